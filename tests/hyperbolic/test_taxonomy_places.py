"""Categories that fit has not seen, that are in no taxonomy, or that are not there."""

import re
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils import get_tags

from skrep.exceptions import ThinDataWarning
from skrep.geometry import poincare
from skrep.graph import relations_from_edges
from skrep.hyperbolic._layout import layout_sectors, place_in_layout
from tests.hyperbolic.test_taxonomy_encoder import ANIMALS, METHODS, X, encoder, rows


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
    rho, theta = place_in_layout(layout_sectors(parents), parents, node)
    flat = np.tanh(rho / 2)[:, None] * np.column_stack([np.cos(theta), np.sin(theta)])
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
    out = encoder(handle_unknown="nan").fit(X).transform(rows("stone", "cat"))
    assert_array_equal(np.isnan(out[:, 0]), [True, False])
    with pytest.raises(ValueError, match=r"gives 'rock' for 'stone'.*such as 'animal'"):
        encoder(handle_unknown={"stone": "rock"}).fit(rows("stone"))
    with pytest.raises(ValueError, match="gives None for 'stone'"):
        encoder(handle_unknown=lambda category: None).fit(rows("stone"))


def test_several_unknown_categories_are_counted_and_named():
    table = rows("cat", "lyon", "stone", "lyon", "rock")
    with pytest.raises(
        ValueError,
        match=r"contains 3 categories that are not in the taxonomy, 'lyon', 'stone', "
        r"'rock', first in row 1, column 0\. Is 'lion' meant by 'lyon'\? Pass handle_",
    ):
        encoder().fit(table)
    with pytest.raises(ValueError, match=r"5 categories .*'p', 'q', 'r' and 2 more, f"):
        encoder().fit(X).transform(rows(*"pqrst"))
    with pytest.raises(ValueError, match=r"contains 'stone', first in row 2, column 0"):
        encoder(handle_unknown={"rock": "cat", "lyon": "cat"}).fit(table)
    with pytest.raises(ValueError, match="contains NaN or None, first in row 2"):
        encoder().fit(rows("stone", "rock", None))


NUMBERS = {1: 10, 2: 10, 10: 100}
TEXTS = {str(child): str(parent) for child, parent in NUMBERS.items()}


@pytest.mark.parametrize(
    ("taxonomy", "table", "turned"),
    [
        (TEXTS, pd.DataFrame({"a": [1, 2]}), "'1' is in the taxonomy: pass {}"),
        (TEXTS, pd.DataFrame({"a": [1.0, 2.0]}), "'1' is in the taxonomy: pass {}"),
        (NUMBERS, pd.DataFrame({"a": ["1", "2"]}), "1 is in the taxonomy: pass {}"),
        (
            {0.5: 10, **NUMBERS},
            pd.DataFrame({"a": ["0.5", "2"]}),
            "0.5 is in the taxonomy: pass {}",
        ),
    ],
)
def test_labels_in_another_type_are_spoken_of(taxonomy, table, turned):
    pattern = turned.format(r"(X\.astype\(.*\)) if that is meant")
    with pytest.raises(ValueError, match=pattern) as refused:
        encoder(taxonomy=taxonomy).fit(table)
    left_open = encoder(taxonomy=taxonomy, handle_unknown="nan")
    with pytest.warns(ThinDataWarning, match=pattern):
        left_open.fit(table)
    with pytest.warns(ThinDataWarning, match=pattern):
        assert np.isnan(left_open.transform(table)).all()
    code = re.search(pattern, str(refused.value)).group(1)
    out = left_open.fit_transform(eval(code, {"X": table}))
    assert np.isfinite(out).all()


def test_a_column_without_a_match_is_warned_of_in_fit():
    model = encoder(handle_unknown="nan")
    table = pd.DataFrame({"a": ["cat", "owl"], "b": ["Lion", None]})
    with pytest.warns(
        ThinDataWarning,
        match=r"none of the 1 categories of column 'b' .*'Lion'.*Is 'lion' meant",
    ):
        model.fit(table)
    # A few new rows may well be of new categories.
    assert np.isnan(model.transform(table)[:, 2:]).all()
    model.fit(pd.DataFrame({"a": ["cat"], "b": [None]}))


def test_without_a_taxonomy_the_messages_speak_of_fit():
    model = encoder(taxonomy=None).fit(rows("cat", "owl"))
    with pytest.raises(
        ValueError, match=r"'lion'.* which is not among the categories of"
    ):
        model.transform(rows("lion"))
    model.set_params(handle_unknown={"lion": "feline"})
    with pytest.raises(ValueError, match="which is not among the categories of fit"):
        model.transform(rows("lion"))
    with pytest.warns(
        UserWarning, match="'owl', which are among the categories of fit"
    ):
        encoder(taxonomy=None, handle_unknown={"owl": "cat"}).fit(rows("cat", "owl"))


def test_a_known_category_does_not_ask_the_mapping():
    model = encoder(handle_unknown={"cat": "bird", "tiger": "cat"})
    with pytest.warns(
        UserWarning, match=r"the keys 'cat', which are in the taxonomy.*Leave such keys"
    ) as caught:
        model.fit(X)
    assert_array_equal(model.transform(X), encoder().fit_transform(X))
    code = str(caught[0].message).partition("keys out: ")[2].removesuffix(".")
    left = eval(code, {"handle_unknown": model.handle_unknown, "encoder": model})
    assert left == {"tiger": "cat"}
    model.set_params(handle_unknown=left).fit(X)


def test_a_mapping_with_a_default_is_asked_for_it():
    class Shy(dict):
        def __missing__(self, key):
            if key == "stone":
                raise KeyError(key)
            return "bird"

    table = rows("tiger", "kite", None)
    expected = encoder(
        handle_unknown={"tiger": "cat", "kite": "bird", None: "bird"}
    ).fit_transform(table)
    for rule in (defaultdict(lambda: "bird", tiger="cat"), Shy(tiger="cat")):
        model = encoder(handle_unknown=rule)
        assert_array_equal(model.fit_transform(table), expected)
        assert rule == {"tiger": "cat"}
        assert get_tags(model).input_tags.allow_nan
    with pytest.raises(ValueError, match="contains 'stone'"):
        model.transform(rows("stone"))
    bare = encoder(handle_unknown=defaultdict(None, tiger="cat"))
    assert not get_tags(bare).input_tags.allow_nan
    with pytest.raises(ValueError, match="contains 'kite'"):
        bare.fit(rows("kite"))


def test_an_error_of_the_function_comes_through():
    with pytest.raises(KeyError, match="stone"):
        encoder(handle_unknown={}.__getitem__).fit(rows("stone"))


def test_only_missing_categories_and_no_taxonomy():
    with pytest.raises(ValueError, match=r"no category.*or a taxonomy"):
        encoder(taxonomy=None, handle_unknown="nan").fit(rows(None, np.nan))
