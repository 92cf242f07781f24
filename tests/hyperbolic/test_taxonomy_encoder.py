"""Categories of a taxonomy become coordinates of their nodes."""

import pickle
import re
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.manifold import SpectralEmbedding
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from skrep.datasets import load_mammals, make_taxonomy_regression
from skrep.exceptions import FewerColumnsWarning
from skrep.geometry import poincare
from skrep.graph import relations_from_edges
from skrep.hyperbolic import (
    HyperbolicMDS,
    PoincareEmbedding,
    TaxonomyEncoder,
    TreeEmbedding,
    _layout,
    _taxonomy,
)
from skrep.hyperbolic._layout import tree_layout
from skrep.hyperbolic._taxonomy import read_taxonomy
from skrep.invariance import check_invariance
from tests.strategies import seeds

ANIMALS = {
    "cat": "feline",
    "lion": "feline",
    "feline": "mammal",
    "dog": "mammal",
    "bat": "mammal",
    "eagle": "bird",
    "owl": "bird",
    "wren": "bird",
    "mammal": "animal",
    "bird": "animal",
}
NAMES = [*ANIMALS, "animal"]
X = np.array([["cat"], ["owl"], ["cat"], ["bird"], ["animal"]], dtype=object)

# Eleven nodes leave columns of trees at 0, and have few positive eigenvalues.
few = pytest.mark.filterwarnings("ignore::skrep.exceptions.FewerColumnsWarning")
METHODS = [
    "layout",
    pytest.param("tree", marks=few),
    "poincare",
    pytest.param("mds", marks=few),
]


def encoder(method="layout", taxonomy=ANIMALS, **parameters):
    return TaxonomyEncoder(taxonomy, method=method, random_state=0, **parameters)


def rows(*names):
    return np.array(names, dtype=object)[:, None]


# --- what comes out --------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_rows_are_the_points_of_their_categories(method):
    model = encoder(method, n_components=3).fit(X)
    assert_array_equal(model.labels_, sorted(NAMES))
    points = dict(zip(model.labels_.tolist(), model.embedding_, strict=True))
    assert model.embedding_.dtype == np.float64
    assert (np.linalg.norm(model.embedding_, axis=1) < 1).all()
    tangent = model.transform(X)
    expected = poincare.log_map_origin(np.array([points[name] for name in X[:, 0]]))
    assert_array_equal(tangent, expected)
    parents = {
        label: None if parent < 0 else model.labels_[parent]
        for label, parent in zip(model.labels_.tolist(), model.parents_, strict=True)
    }
    assert parents == {**ANIMALS, "animal": None}


@pytest.mark.parametrize("method", METHODS)
def test_kin_are_near(method):
    model = encoder(method).fit(X)
    place = {name: i for i, name in enumerate(model.labels_)}
    distances = poincare.pairwise_distances(model.embedding_)
    assert (
        distances[place["cat"], place["lion"]] < distances[place["cat"], place["owl"]]
    )
    assert (
        distances[place["owl"], place["wren"]] < distances[place["owl"], place["dog"]]
    )


@pytest.mark.parametrize(
    ("coordinates", "width"), [("tangent", 3), ("ball", 3), ("lorentz", 4)]
)
def test_coordinates(coordinates, width):
    model = encoder("tree", n_components=3, coordinates=coordinates).fit(X)
    out = model.transform(X)
    assert out.shape == (5, width)
    assert list(model.get_feature_names_out()) == [f"x0_h{j}" for j in range(width)]
    back = {
        "tangent": poincare.exp_map_origin,
        "ball": np.asarray,
        "lorentz": lambda x: x[:, 1:] / (1 + x[:, :1]),
    }[coordinates](out)
    nodes = np.searchsorted(model.labels_, X[:, 0].astype(str))
    assert_allclose(back, model.embedding_[nodes], atol=1e-12)


def test_the_methods_are_the_estimators_that_they_name():
    matrix, labels = relations_from_edges(ANIMALS)
    edges = relations_from_edges(ANIMALS, closure=False).matrix
    root = int(np.flatnonzero(labels == "animal")[0])
    lengths = sp.csgraph.shortest_path(edges, directed=False)
    expected = {
        "poincare": PoincareEmbedding(
            3, affinity="precomputed", random_state=0
        ).fit_transform(matrix),
        "tree": TreeEmbedding(3, tau=1.5, root=root).fit_transform(edges),
        "mds": HyperbolicMDS(3, metric="precomputed", scale=0.5).fit_transform(lengths),
    }
    for method, points in expected.items():
        model = encoder(method, n_components=3).fit(X)
        assert_allclose(model.embedding_, points, atol=1e-12)
    flat = PoincareEmbedding(2, affinity="precomputed", init="tree", random_state=0)
    model = encoder("poincare", n_components=2).fit(X)
    assert_allclose(model.embedding_, flat.fit_transform(matrix), atol=1e-12)
    parents = encoder().fit(X).parents_
    rho, theta = tree_layout(parents)
    direction = np.c_[np.cos(theta), np.sin(theta)]
    assert_allclose(
        encoder().fit(labels[:, None]).transform(labels[:, None]),
        rho[:, None] * direction,
        atol=1e-12,
    )


@pytest.mark.parametrize("depth", [40, 100])
def test_deep_taxonomies_stay_inside(depth):
    arms = [((arm, i), (arm, i - 1)) for arm in "abc" for i in range(1, depth)]
    arms += [((arm, 0), "root") for arm in "abc"]
    for method in ("tree", "mds"):
        model = encoder(method, taxonomy=arms, n_components=2).fit([["root"]])
        radii = poincare.to_polar(model.embedding_)[0]
        assert radii.max() <= 30 + 1e-6


def test_several_parents_are_all_related_and_one_makes_the_tree():
    edges = [*ANIMALS.items(), ("bat", "bird")]
    model = encoder("poincare", taxonomy=edges).fit(X)
    matrix, labels = relations_from_edges(edges)
    tree = read_taxonomy("who", edges)
    assert_array_equal(tree.relations.toarray(), matrix.toarray())
    bat = int(np.flatnonzero(labels == "bat")[0])
    assert labels[model.parents_[bat]] in ("bird", "mammal")


@pytest.mark.parametrize("method", METHODS)
def test_several_roots_are_joined(method):
    forest = {"cat": "mammal", "dog": "mammal", "owl": "bird", "stone": None}
    model = encoder(method, taxonomy=forest).fit([["cat"]])
    assert model.labels_.tolist() == ["bird", "cat", "dog", "mammal", "owl", "stone"]
    assert len(model.embedding_) == 6
    assert_array_equal(model.parents_, [-1, 3, 3, -1, 0, -1])
    assert np.isfinite(model.transform([["stone"]])).all()


@pytest.mark.filterwarnings("ignore:PoincareEmbedding. each node")
@pytest.mark.parametrize("method", METHODS)
def test_a_taxonomy_of_one_node(method):
    model = encoder(method, taxonomy={"a": None}, n_components=1).fit([["a"]])
    assert np.isfinite(model.transform([["a"]])).all()
    assert_array_equal(model.parents_, [-1])


# --- what goes in ----------------------------------------------------------------


@pytest.mark.parametrize(
    "taxonomy",
    [
        list(ANIMALS.items()),
        np.array(list(ANIMALS.items())),
        pd.DataFrame(ANIMALS.items(), columns=["child", "parent"]),
        pd.DataFrame(ANIMALS.items(), columns=["child", "parent"]).iloc[:, ::-1],
        pl.DataFrame(list(ANIMALS.items()), schema=["child", "parent"], orient="row"),
        nx.DiGraph(list(ANIMALS.items())),
        {**ANIMALS, "animal": None},
        pd.Series(ANIMALS),
        [*ANIMALS.items(), ("animal", np.nan)],
    ],
    ids=lambda taxonomy: type(taxonomy).__name__,
)
def test_forms_of_a_taxonomy(taxonomy):
    model = encoder("layout", taxonomy=taxonomy).fit(X)
    assert_array_equal(model.transform(X), encoder("layout").fit_transform(X))
    assert clone(model).taxonomy is not None


CONTAINERS = {
    "lists": X.tolist(),
    "strings": X.astype(str),
    "pandas": pd.DataFrame(X, columns=["a"]),
    "pandas objects": pd.DataFrame(X, columns=["a"], dtype=object),
    "categories": pd.DataFrame(X, columns=["a"]).astype("category"),
    "unused categories": pd.DataFrame(
        {"a": pd.Categorical(X[:, 0], categories=[*NAMES, "stone"])}
    ),
    "polars": pl.DataFrame({"a": X[:, 0].tolist()}),
    "polars categories": pl.DataFrame({"a": X[:, 0].tolist()}).cast(pl.Categorical),
    "enum": pl.DataFrame({"a": X[:, 0].tolist()}).cast(pl.Enum(NAMES)),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("taxonomy", [ANIMALS, None])
def test_containers(container, taxonomy):
    given_rows = CONTAINERS[container]
    model = encoder(taxonomy=taxonomy).fit(given_rows)
    expected = encoder(taxonomy=taxonomy).fit_transform(X)
    assert_array_equal(model.transform(given_rows), expected)
    named = hasattr(given_rows, "columns")
    column = "a" if named else "x0"
    assert list(model.get_feature_names_out()) == [f"{column}_h0", f"{column}_h1"]


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_frames_come_out(output):
    frame = pd.DataFrame({"seen": X[:, 0], "heard": X[::-1, 0]}, index=list("vwxyz"))
    out = encoder().set_output(transform=output).fit_transform(frame)
    assert list(out.columns) == [
        f"{column}_h{j}" for column in ("seen", "heard") for j in range(2)
    ]
    if output == "pandas":
        assert list(out.index) == list(frame.index)


@pytest.mark.parametrize("method", METHODS)
def test_two_columns_share_one_taxonomy(method):
    table = np.hstack([X, X[::-1]])
    out = encoder(method).fit_transform(table)
    half = out.shape[1] // 2
    single = encoder(method).fit_transform(X)
    assert_array_equal(out[:, :half], single)
    assert_array_equal(out[:, half:], single[::-1])


def test_numbers_are_compared_by_value():
    taxonomy = [(1, 10), (2, 10), (10, 100), (20, 100), (3, 20)]
    model = encoder(taxonomy=taxonomy).fit([[1], [3]])
    expected = model.transform([[1], [20]])
    others = (
        np.array([[1.0], [20.0]], dtype=np.float32),
        np.array([[1], [20]], dtype=np.uint8),
        pd.DataFrame({"x": pd.Categorical([1, 20])}).to_numpy(),
        np.array([[1], [20.0]], dtype=object),
    )
    for other in others:
        assert_array_equal(model.transform(other), expected)
    nullable = pd.DataFrame({"x": pd.array([1, 20, None], dtype="Int64")})
    with pytest.warns(UserWarning, match="X has feature names"):
        out = model.set_params(handle_unknown="nan").transform(nullable)
    assert_array_equal(out[:2], expected)
    assert np.isnan(out[2]).all()
    with pytest.raises(ValueError, match="'X' contains '1'"):
        model.set_params(handle_unknown="error").transform([["1"]])


def test_columns_of_several_types():
    taxonomy = [("a", "root"), (1, "root"), ((2, 3), "root")]
    frame = pd.DataFrame(
        {"x": ["a", "root"], "y": pd.array([1, None], dtype="Int64"), "z": [1.0, 1.0]}
    )
    model = encoder(taxonomy=taxonomy, handle_unknown="nan").fit(frame)
    out = model.transform(frame)
    assert_array_equal(np.isnan(out[1]), [False, False, True, True, False, False])
    assert_array_equal(out[0, 2:4], out[0, 4:])
    cells = np.empty((1, 1), dtype=object)
    cells[0, 0] = (2, 3)
    assert np.isfinite(encoder(taxonomy=taxonomy).fit_transform(cells)).all()
    mixed = encoder(taxonomy=taxonomy).fit_transform([["a", 1], ["root", 1]])
    assert_array_equal(mixed[:, 2:], out[:, 4:])


def test_in_a_column_transformer():
    frame = pd.DataFrame({"animal": X[:, 0], "size": np.arange(5.0)})
    both = ColumnTransformer([("tree", encoder(), ["animal"])], remainder="passthrough")
    out = both.set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == [
        "tree__animal_h0",
        "tree__animal_h1",
        "remainder__size",
    ]


def test_without_a_taxonomy_the_categories_are_under_one_root():
    model = encoder(taxonomy=None).fit([["b", "c"], ["a", "b"]])
    assert model.labels_.tolist() == ["a", "b", "c"]
    assert_array_equal(model.parents_, [-1, -1, -1])
    out = model.transform([["a", "b"], ["c", "a"]])
    assert_allclose(np.linalg.norm(out.reshape(4, 2), axis=1), np.log(3))
    assert encoder(taxonomy=None).fit([["a"]]).transform([["a"]]).shape == (1, 2)


# --- columns and places ------------------------------------------------------------


def test_columns_that_no_node_needs_are_warned_of():
    with pytest.warns(
        FewerColumnsWarning,
        match=r"497 of the 500 columns are 0.*Pass n_components=3\.",
    ):
        model = encoder("tree", n_components=500).fit(X)
    assert np.count_nonzero(model.embedding_.any(axis=0)) == 3
    encoder("tree", n_components=3).fit(X)


def test_only_children_have_places_of_their_own():
    mammals = load_mammals()
    model = encoder(taxonomy=mammals.names[mammals.edges]).fit([["wolf.n.01"]])
    out = model.transform(mammals.names[:, None])
    assert len(np.unique(out.round(6), axis=0)) == 1170
    chain = [(i, i - 1) for i in range(1, 300)]
    out = encoder(taxonomy=chain).fit_transform(np.arange(300)[:, None])
    assert_allclose(np.linalg.norm(out, axis=1), np.log(np.arange(1, 301)), atol=1e-12)
    model = encoder(taxonomy=chain, handle_unknown={"end": 299, "side": 150})
    placed = model.fit([[1]]).transform(rows("end", "side"))
    assert_allclose(np.linalg.norm(placed[0]), np.log(301))
    assert np.linalg.norm(placed[1] - out, axis=1).min() > 0.5


# --- estimators as method ---------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("poincare", PoincareEmbedding(3, affinity="precomputed", random_state=0)),
        ("tree", TreeEmbedding(3, tau=1.5, root=0)),
        ("mds", HyperbolicMDS(3, metric="precomputed", scale=0.5)),
    ],
)
def test_an_estimator_is_what_the_name_says(method, given):
    under = {"tiger": "feline"}
    table = rows("cat", "tiger", "animal")
    own = encoder(given, handle_unknown=under).fit(X)
    named = encoder(method, n_components=3, handle_unknown=under).fit(X)
    assert_allclose(own.transform(table), named.transform(table), atol=1e-12)
    assert own.method is given
    assert not hasattr(given, "embedding_")


def test_coordinates_are_those_of_the_encoder():
    given = PoincareEmbedding(
        3, affinity="precomputed", coordinates="lorentz", random_state=0
    )
    own = encoder(given, handle_unknown={"tiger": "cat"}).fit(X)
    assert own.transform(rows("tiger", "cat")).shape == (2, 3)


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        (
            PoincareEmbedding(2, affinity="precomputed", model="euclidean"),
            r"ball\. Pass it with model='poincare'\.$",
        ),
        (
            SpectralEmbedding(2, affinity="precomputed"),
            r"no transform .* Pass PoincareEmbedding\(affinity='precomputed'\), say",
        ),
    ],
)
def test_estimators_that_cannot_serve_are_refused_before_they_are_fitted(given, remedy):
    with pytest.raises(ValueError, match=remedy):
        encoder(given).fit(X)


def test_points_outside_of_the_ball_are_refused(monkeypatch):
    given = PoincareEmbedding(2, affinity="precomputed")

    def far(self, X, y=None):
        self.embedding_ = np.full((X.shape[0], 2), 3.0)
        return self

    monkeypatch.setattr(type(given), "fit", far)
    with pytest.raises(
        ValueError, match=r"ball\. Pass an estimator of hyperbolic point"
    ):
        encoder(given).fit(X)


def test_the_root_is_in_the_middle_of_a_lopsided_tree():
    chain = {"a": "root", "b": "a", "c": "b", "d": "c", "x": "root", "y": "a"}
    model = encoder("tree", taxonomy=chain, n_components=2).fit([["a"]])
    assert np.linalg.norm(model.embedding_[model.labels_.tolist().index("root")]) == 0


def test_a_leaf_moves_outward_never_inward():
    points = poincare.from_polar(np.array([2.0, 1.0]), np.eye(2))
    fitted = SimpleNamespace(embedding_=points)
    inward = _taxonomy._outward(np.array([-1, 0]), fitted, points[1:])
    assert_allclose(inward, points[1:], atol=1e-15)
    outward = _taxonomy._outward(np.array([1, -1]), fitted, points[1:])
    assert_allclose(poincare.to_polar(outward)[0], 2)


def test_skops_takes_labels_that_are_no_text():
    taxonomy = [(("cat", 1), ("mammal", 0)), (("dog", 1), ("mammal", 0))]
    model = encoder("layout", taxonomy=taxonomy)
    X = np.empty((1, 1), dtype=object)
    X[0, 0] = ("cat", 1)
    model.fit(X)
    saved = skops.io.dumps(encoder("layout").fit([["cat"]]))
    again = skops.io.loads(saved, trusted=skops.io.get_untrusted_types(data=saved))
    assert_array_equal(
        again.transform([["cat"]]), encoder("layout").fit_transform([["cat"]])
    )
    saved = skops.io.dumps(model)
    again = skops.io.loads(saved, trusted=skops.io.get_untrusted_types(data=saved))
    assert_array_equal(again.transform(X), model.transform(X))


def test_a_new_leaf_does_not_lay_the_tree_out_again(monkeypatch):
    model = encoder("layout", handle_unknown={"new": "mammal"}).fit([["cat"]])
    before = model.transform([["new"]])

    def fail(parents):
        raise AssertionError

    monkeypatch.setattr(_layout, "layout_sectors", fail)
    assert_array_equal(model.transform([["new"]]), before)


# --- promises --------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same(method):
    one, other = (encoder(method).fit_transform(X) for _ in range(2))
    assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("method", "bytes_of_a_node"),
    [("layout", 120), ("tree", 200), ("poincare", 130), ("mds", 145)],
)
def test_a_pickle_holds_neither_squares_nor_the_closure(method, bytes_of_a_node):
    _, _, taxonomy, _ = make_taxonomy_regression(1, 300, random_state=0)
    given = PoincareEmbedding(
        3, affinity="precomputed", max_epochs=1, burn_in=0, random_state=0
    )
    used = given if method == "poincare" else method
    model = encoder(used, taxonomy=taxonomy, n_components=3).fit([["c0000"]])
    n = len(model.labels_)
    # The closure takes 80 bytes more.
    assert len(pickle.dumps(model)) < bytes_of_a_node * n
    model.set_params(handle_unknown={"new": "c0000"})
    again = pickle.loads(pickle.dumps(model))
    table = rows("c0001", "new")
    assert_array_equal(again.transform(table), model.transform(table))


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        ("error", False),
        ("nan", True),
        ({"a": "b"}, False),
        ({None: "b"}, True),
        (str, True),
    ],
)
def test_tags(rule, allowed):
    tags = get_tags(TaxonomyEncoder(handle_unknown=rule))
    assert tags.input_tags.allow_nan == allowed
    assert tags.input_tags.categorical
    assert tags.input_tags.string
    assert not tags.input_tags.sparse


@few
@given(seed=seeds, method=st.sampled_from(["layout", "tree"]))
@settings(max_examples=15)
def test_the_order_of_rows_and_of_edges_changes_nothing(seed, method):
    rng = np.random.default_rng(seed)
    pairs = list(ANIMALS.items())
    shuffled = [pairs[i] for i in rng.permutation(len(pairs))]
    table = rows(*rng.choice(NAMES, 12))
    order = rng.permutation(12)
    for taxonomies in ((pairs, shuffled), (None, None)):
        one, other = (encoder(method, taxonomy=t) for t in taxonomies)
        expected = one.fit_transform(table)[order]
        assert_array_equal(other.fit_transform(table[order]), expected)


@pytest.mark.parametrize("method", METHODS)
def test_claims_hold(method):
    table = np.random.default_rng(0).choice(NAMES, (30, 2)).astype(object)
    for claim in TaxonomyEncoder().invariances():
        for taxonomy in (ANIMALS, None):
            report = check_invariance(encoder(method, taxonomy=taxonomy), claim, table)
            assert report.holds, report


def test_mammals_by_the_default_method():
    mammals = load_mammals()
    taxonomy = mammals.names[mammals.edges]
    model = TaxonomyEncoder(taxonomy, random_state=0)
    out = model.fit_transform(mammals.names[:, None])
    assert out.shape == (1170, 5)
    root = np.linalg.norm(out, axis=1).argmin()
    assert mammals.depth[root] <= 1
    assert re.match(r"x0_h4", model.get_feature_names_out()[-1])


def test_the_tree_tells_of_categories_without_rows():
    table, y, taxonomy, effects = make_taxonomy_regression(random_state=0)
    unseen = np.array([int(name[1:]) % 5 == 0 for name in table[:, 0]])
    model = make_pipeline(
        TaxonomyEncoder(taxonomy, method="layout"),
        HistGradientBoostingRegressor(random_state=0),
    ).fit(table[~unseen], y[~unseen])
    score = r2_score(y[unseen], model.predict(table[unseen]))
    assert score > 0.85 * r2_score(y[unseen], effects[unseen])
