"""Categories of a taxonomy become coordinates of their nodes."""

import pickle
import re

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
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
from skrep.geometry import poincare
from skrep.graph import relations_from_edges
from skrep.hyperbolic import (
    HyperbolicMDS,
    PoincareEmbedding,
    TaxonomyEncoder,
    TreeEmbedding,
)
from skrep.hyperbolic._layout import place_in_layout, tree_layout
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

# Eleven nodes have fewer positive eigenvalues than mds asks for.
few = pytest.mark.filterwarnings("ignore::skrep.exceptions.FewerColumnsWarning")
METHODS = [
    "layout",
    "tree",
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
    assert_array_equal(model._tree.relations.toarray(), matrix.toarray())
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
    ],
    ids=lambda taxonomy: type(taxonomy).__name__,
)
def test_forms_of_a_taxonomy(taxonomy):
    model = encoder("tree", taxonomy=taxonomy).fit(X)
    assert_array_equal(model.transform(X), encoder("tree").fit_transform(X))
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
    out = encoder("tree").set_output(transform=output).fit_transform(frame)
    assert list(out.columns) == [
        f"{column}_h{j}" for column in ("seen", "heard") for j in range(5)
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


# --- categories that fit has not seen, or that are not there ----------------------


@pytest.mark.parametrize("method", METHODS)
def test_an_unseen_category_of_the_taxonomy_has_its_point(method):
    model = encoder(method).fit(rows("cat", "owl"))
    assert_array_equal(
        model.transform(rows("lion")), encoder(method).fit(X).transform(rows("lion"))
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rule", ["mapping", "function"])
def test_a_category_outside_is_placed_under_the_parent_that_is_named(method, rule):
    above = {"tiger": "feline", "kite": "bird", None: "animal"}
    handle = above if rule == "mapping" else above.get
    model = encoder(method, handle_unknown=handle).fit(rows("cat", "tiger"))
    table = rows("tiger", "kite", "owl", None, "tiger")
    out = model.transform(table)
    assert np.isfinite(out).all()
    points = poincare.exp_map_origin(out)
    distances = poincare.pairwise_distances(points, model.embedding_)
    parent, strangers = ("feline", "bird"), (["owl", "wren"], ["cat", "dog"])
    for row in (0, 1):
        own = distances[row, model.labels_ == parent[row]]
        assert (own < distances[row, np.isin(model.labels_, strangers[row])]).all()
    assert_array_equal(out[0], out[4])
    for i in range(5):
        alone = model.transform(table[i : i + 1])[0]
        assert_allclose(alone, out[i], rtol=1e-12, atol=1e-12)
    assert list(above) == ["tiger", "kite", None]


def test_places_are_those_of_the_methods():
    under = {"new": "feline"}
    models = {
        method: encoder(
            method, n_components=3, handle_unknown=under, coordinates="ball"
        )
        for method in ("layout", "tree", "poincare", "mds")
    }
    found = {}
    for method, model in models.items():
        found[method] = model.fit(X).transform(rows("new"))
    labels = models["tree"].labels_
    node = np.flatnonzero(labels == "feline")
    parents = models["layout"].parents_
    rho, theta = place_in_layout(*tree_layout(parents), parents, int(node[0]))
    flat = np.tanh(rho / 2) * np.array([[np.cos(theta), np.sin(theta)]])
    assert_allclose(found["layout"], flat, atol=1e-12)
    trained = models["poincare"]
    radius, _ = poincare.to_polar(trained.embedding_)
    gaps = [
        radius[i] - radius[parent] for i, parent in enumerate(parents) if parent >= 0
    ]
    near, direction = poincare.to_polar(
        trained.estimator_.transform(np.eye(len(labels))[node])
    )
    assert np.mean(gaps) > 0.5
    assert_allclose(
        found["poincare"], poincare.from_polar(near + np.mean(gaps), direction)
    )
    edges = relations_from_edges(ANIMALS, closure=False).matrix
    lengths = sp.csgraph.shortest_path(edges, directed=False)[node] + 1
    assert_allclose(found["mds"], models["mds"].estimator_.transform(lengths))
    tree = models["tree"].embedding_
    assert_allclose(poincare.distance(found["tree"][0], tree[node[0]]), 1.5)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_a_missing_category_follows_the_rule(missing):
    table = rows("cat", missing)
    with pytest.raises(ValueError, match=r"NaN or None, first in row 1, column 0\. .*"):
        encoder().fit(table)
    with pytest.raises(ValueError, match="fill such rows in, or pass handle_unknown="):
        encoder().fit(X).transform(table)
    with pytest.raises(ValueError, match="contains NaN or None, first in row 1"):
        encoder().fit(rows("stone", missing))
    with pytest.raises(ValueError, match="or a mapping that has None"):
        encoder(handle_unknown={"tiger": "cat"}).fit(table)
    out = encoder(handle_unknown="nan").fit_transform(table)
    assert_array_equal(np.isnan(out), [[False, False], [True, True]])
    under = encoder(handle_unknown={None: "bird"}).fit_transform(table)
    asked = []

    def bird(category):
        asked.append(category)
        return "bird"

    assert_array_equal(encoder(handle_unknown=bird).fit_transform(table), under)
    assert set(asked) == {None}
    assert np.isfinite(under).all()


def test_unknown_categories_are_refused_or_left_open():
    with pytest.raises(
        ValueError, match=r"'X' contains 'stone', first in row 1, column 0.*\{'stone': "
    ):
        encoder().fit(rows("cat", "stone"))
    frame = pd.DataFrame({"animal": ["cat", "stone"]})
    with pytest.raises(ValueError, match=r"column 'animal'.*not in the taxonomy"):
        encoder().fit(frame)
    with pytest.raises(ValueError, match=r"or handle_unknown='nan'"):
        encoder(handle_unknown={"x": "cat"}).fit(X).transform(rows("stone"))
    out = encoder("tree", handle_unknown="nan").fit(X).transform(rows("stone", "cat"))
    assert_array_equal(np.isnan(out[:, 0]), [True, False])
    with pytest.raises(ValueError, match=r"gives 'rock' for 'stone'.*such as 'animal'"):
        encoder(handle_unknown={"stone": "rock"}).fit(rows("stone"))
    with pytest.raises(ValueError, match="gives None for 'stone'"):
        encoder(handle_unknown=lambda category: None).fit(rows("stone"))


def test_a_known_category_does_not_ask_the_mapping():
    model = encoder(handle_unknown={"cat": "bird"}).fit(X)
    assert_array_equal(model.transform(X), encoder().fit_transform(X))


def test_only_missing_categories_and_no_taxonomy():
    with pytest.raises(ValueError, match=r"no category.*or a taxonomy"):
        encoder(taxonomy=None, handle_unknown="nan").fit(rows(None, np.nan))


# --- bad input -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("taxonomy", "message"),
    [
        ([("a", "b"), ("b", "a")], "'taxonomy' has a cycle through 'a' and 'b'"),
        ([("a", None)], "'taxonomy' has None as the parent of edge 0"),
        (5, "'taxonomy' is 5"),
        (pd.DataFrame({"a": [1], "b": [2]}), "'taxonomy' has columns"),
    ],
)
def test_bad_taxonomies_are_refused_by_name(taxonomy, message):
    with pytest.raises(ValueError, match=f"^TaxonomyEncoder: {message}"):
        encoder(taxonomy=taxonomy).fit(X)


def test_a_taxonomy_read_backwards_is_warned_of():
    turned = [(parent, child) for child, parent in ANIMALS.items()]
    with pytest.warns(UserWarning, match="children and parents exchanged"):
        encoder(taxonomy=turned).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "TaxonomyEncoder: 'n_components' is 0"),
        ({"n_components": 2.0}, "'n_components' is 2.0"),
        ({"method": "umap"}, "'method'"),
        ({"coordinates": "klein"}, "'coordinates'"),
        ({"handle_unknown": "ignore"}, "'handle_unknown'"),
        ({"method": HyperbolicMDS()}, r"Pass PoincareEmbedding\(affinity='precomputed"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        TaxonomyEncoder(ANIMALS, **{"method": "tree", **parameters}).fit(X)


def test_rows_are_checked():
    cells = np.empty((1, 1), dtype=object)
    cells[0, 0] = ["cat"]
    with pytest.raises(
        ValueError, match=r"row 0, column 0, which cannot be hashed.*pass"
    ):
        encoder().fit(cells)
    with pytest.raises(ValueError, match="infinity, first in row 1, column 0"):
        encoder(taxonomy=None).fit([[1.0], [np.inf]])
    for bad in (pd.DataFrame({"a": []}), np.empty((0, 1), dtype=object), X[:, 0]):
        with pytest.raises(ValueError, match="TaxonomyEncoder"):
            encoder().fit(bad)
    with pytest.raises(ValueError, match="2 features"):
        encoder().fit(X).transform(np.hstack([X, X]))


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
    "given",
    [
        PoincareEmbedding(
            2, affinity="precomputed", model="euclidean", max_epochs=100, random_state=0
        ),
        SpectralEmbedding(2, affinity="precomputed"),
    ],
)
def test_points_outside_of_the_ball_are_refused(given, monkeypatch):
    def far(self, X, y=None):
        self.embedding_ = np.full((X.shape[0], 2), 3.0)
        return self

    monkeypatch.setattr(type(given), "fit", far)
    with pytest.raises(
        ValueError, match=r"ball\. Pass an estimator of hyperbolic point"
    ):
        encoder(given).fit(X)


# --- promises --------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same(method):
    one, other = (encoder(method).fit_transform(X) for _ in range(2))
    assert_array_equal(one, other)


@pytest.mark.parametrize("method", ["layout", "tree", "poincare", "mds"])
def test_a_pickle_holds_nothing_of_n_times_n(method):
    _, _, taxonomy, _ = make_taxonomy_regression(1, 300, random_state=0)
    given = PoincareEmbedding(
        3, affinity="precomputed", max_epochs=1, burn_in=0, random_state=0
    )
    model = encoder(given if method == "poincare" else method, taxonomy=taxonomy)
    model.fit([["c0000"]])
    n = len(model.labels_)
    assert len(pickle.dumps(model)) < n**2 * 8 / 4
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
