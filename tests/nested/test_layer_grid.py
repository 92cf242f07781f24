"""LayerGrid: its scores, its choice, three-dimensional rows, and what it refuses."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from skrep.invariance import check_invariance, unclaimed
from skrep.nested import LayerGrid, NestedProjection
from skrep.nested._layer_scores import content_folds, shortest_good
from tests.strategies import seeds


def layered(n=90, n_layers=3, width=6, good=1, seed=0, n_classes=3):
    """Layers of noise, one of which knows the class in two directions."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, n_layers, width))
    turn = np.linalg.qr(rng.normal(size=(width, width)))[0]
    X[:, good, :2] += 6 * rng.normal(size=(n_classes, 2))[y]
    X[:, good] = X[:, good] @ turn
    return X, y


def flat(X):
    return X.reshape(len(X), -1)


def nearest(rows, row, n_neighbors):
    return np.argsort(np.linalg.norm(rows - row, axis=1))[:n_neighbors]


def naive_score(X, values, folds, k, n_neighbors, kind):
    """Cross-validated neighbors of the first k principal axes, row by row."""
    right, total = 0.0, 0.0
    told = np.empty(len(X))
    for fold in range(folds.max() + 1):
        known = np.flatnonzero(folds != fold)
        pca = PCA(k).fit(X[known])
        Z = pca.transform(X)
        for i in np.flatnonzero(folds == fold):
            near = known[nearest(Z[known], Z[i], n_neighbors)]
            total += 1
            if kind == "classes":
                votes = np.bincount(values[near], minlength=3)
                best = np.flatnonzero(votes == votes.max())
                right += (values[i] in best) / len(best)
            elif kind == "numbers":
                told[i] = values[near].mean()
            else:
                true = known[nearest(values[known], values[i], n_neighbors)]
                right += len(set(true) & set(near)) / n_neighbors
    return r2_score(values, told) if kind == "numbers" else right / total


# --- scores and choice -----------------------------------------------------------


@pytest.mark.parametrize("kind", ["classes", "numbers", "neighbors"])
def test_scores_are_those_of_a_naive_loop(kind):
    X, y = layered()
    joined = flat(X) - flat(X).mean(axis=0)
    sizes = np.sqrt((joined.reshape(X.shape) ** 2).mean(axis=(0, 2)))
    joined = flat(joined.reshape(X.shape) / sizes[:, None])
    given, values = {
        "classes": (y, y),
        "numbers": (y + 0.5 * X[:, 0, 0], y + 0.5 * X[:, 0, 0]),
        "neighbors": (None, joined),
    }[kind]
    grid = LayerGrid(prefixes=[2, 5], fuse="concatenate", n_neighbors=4)
    grid.fit(X, given)
    codes = y if kind == "classes" else None
    folds = content_folds(flat(X), np.ones(len(X)), codes, 5)
    parts = [*np.moveaxis(X, 1, 0), joined]
    expected = [
        [naive_score(P, values, folds, k, 4, kind) for k in (2, 5)] for P in parts
    ]
    assert_allclose(grid.grid_scores_, expected)
    assert grid.layer_ is None
    assert grid.best_score_ == grid.grid_scores_[-1].max()


@pytest.mark.parametrize("objective", ["variance", "classes"])
def test_the_layer_that_knows_is_chosen(objective):
    X, y = layered()
    grid = LayerGrid(objective=objective, tolerance=0.05).fit(X, y)
    assert grid.layer_ == 1
    assert grid.n_components_ <= 2
    assert grid.grid_scores_.shape == (3, 4)
    assert_array_equal(grid.lengths_, [1, 2, 4, 6])
    axes = NestedProjection(grid.n_components_, objective=objective).fit(X[:, 1], y)
    assert_allclose(grid.transform(X), axes.transform(X[:, 1]))
    assert_allclose(grid.mean_, X[:, 1].mean(axis=0))
    head = LogisticRegression().fit(grid.transform(X[:60]), y[:60])
    assert head.score(grid.transform(X[60:]), y[60:]) > 0.9


@given(scores=st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=1))
def test_the_shortest_that_is_good_enough(scores):
    scores = np.array(scores)
    at, length = shortest_good(scores, 0.1)
    enough = scores.max() - 0.1 * abs(scores.max()) - 1e-12
    assert scores[at, length] >= enough
    assert scores[at, length] == scores[:, length].max()
    assert (scores[:, :length] < enough).all()


def test_tolerance_gives_a_shorter_output():
    X, y = layered()
    X[:, 1] += 4 * np.random.default_rng(1).normal(size=(90, 6))
    lengths = [
        LayerGrid(tolerance=t, prefixes=[1, 2, 4, 6]).fit(X, y).n_components_
        for t in (0, 0.3, 1)
    ]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] == 1


def test_without_a_target_the_score_is_kinship_with_all_layers():
    X, _ = layered(n_layers=1, good=0)
    grid = LayerGrid().fit(X)
    assert grid.n_components_ == 6
    assert_allclose(grid.best_score_, 1)
    assert (np.diff(grid.grid_scores_[0]) > 0).all()


@pytest.mark.parametrize("fuse", ["concatenate", "mean"])
def test_fused_layers_count_alike(fuse):
    X, y = layered()
    sizes = np.array([1e3, 1.0, 1e-3])[:, None]
    grids = [
        LayerGrid(3, 4, fuse=fuse).fit(flat(rows), y) for rows in (X, X * sizes + sizes)
    ]
    one = grids[0].transform(flat(X))
    assert_allclose(one, grids[1].transform(flat(X * sizes + sizes)), atol=1e-8)
    parts = [P - P.mean(axis=0) for P in np.moveaxis(X, 1, 0)]
    parts = [P / np.sqrt((P**2).mean()) for P in parts]
    joined = np.hstack(parts) if fuse == "concatenate" else sum(parts) / 3
    assert_allclose(one, NestedProjection(4).fit_transform(joined), atol=1e-10)
    assert grids[0].grid_scores_.shape == (4, 1)


def test_layers_of_several_widths():
    X, y = layered()
    rows = np.hstack([X[:, 1], X[:, 0, :3]])
    grid = LayerGrid((6, 3)).fit(rows, y)
    assert_array_equal(grid.lengths_, [1, 2, 3, 4, 6])
    assert_array_equal(np.isnan(grid.grid_scores_[1]), grid.lengths_ > 3)
    assert grid.layer_ == 0
    assert grid.layer_widths_ == (6, 3)


def test_one_length_only_chooses_the_layer():
    X, y = layered()
    grid = LayerGrid(n_components=2).fit(X, y)
    assert grid.layer_ == 1
    assert grid.n_components_ == 2
    assert_array_equal(grid.lengths_, [2])


def test_a_constant_layer_and_a_constant_target():
    X, y = layered()
    X[:, 0] = 3
    assert LayerGrid(fuse="concatenate").fit(X, y).transform(X).shape[0] == 90
    assert LayerGrid().fit(X, y).layer_ == 1
    assert np.isfinite(LayerGrid().fit(X, np.full(90, 2.5)).grid_scores_).all()


def test_few_rows():
    X, y = layered(n=2)
    assert LayerGrid().fit(X, y).transform(X).shape[0] == 2
    assert LayerGrid(n_neighbors=50).fit(*layered(n=7)).grid_scores_.shape == (3, 4)


# --- folds and weights -----------------------------------------------------------


@given(seed=seeds)
@settings(max_examples=20)
def test_folds_depend_on_content_alone(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(23, 3))
    codes = rng.integers(3, size=23)
    folds = content_folds(X, np.ones(23), codes, 4)
    assert np.bincount(folds).min() >= 5
    for code in range(3):
        counts = np.bincount(folds[codes == code], minlength=4)
        assert counts.max() - counts.min() <= 1
    order = rng.permutation(23)
    assert_array_equal(
        content_folds(X[order], np.ones(23), codes[order], 4), folds[order]
    )
    assert_array_equal(content_folds(X, np.ones(23), (codes + 1) % 3, 4), folds)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    assert_array_equal(content_folds(X @ turn, np.ones(23), codes, 4), folds)
    twice = content_folds(
        np.vstack([X, X[:5]]), np.ones(28), np.r_[codes, codes[:5]], 4
    )
    assert_array_equal(twice[23:], twice[:5])


@pytest.mark.parametrize("fuse", ["select", "concatenate"])
@pytest.mark.parametrize("target", ["classes", "numbers", "neighbors"])
def test_weights_count_rows(target, fuse):
    X, y = layered(n=50)
    y = {"classes": y, "numbers": y + 0.1 * X[:, 0, 0], "neighbors": None}[target]
    weights = np.arange(50) % 3
    order = np.random.default_rng(0).permutation(weights.sum())
    places = np.repeat(np.arange(50), weights)[order]
    one = LayerGrid(fuse=fuse, n_neighbors=5).fit(X, y, sample_weight=weights)
    other = LayerGrid(fuse=fuse, n_neighbors=5).fit(
        X[places], None if y is None else y[places]
    )
    assert_allclose(one.grid_scores_, other.grid_scores_)
    assert_allclose(one.transform(X), other.transform(X), atol=1e-9)
    assert not np.allclose(
        one.grid_scores_, LayerGrid(fuse=fuse, n_neighbors=5).fit(X, y).grid_scores_
    )


def test_the_target_of_an_absent_row_has_no_say():
    X, y = layered()
    names = np.array(["a", "b", "c"], dtype=object)[y]
    names[0] = None
    weights = np.ones(90)
    weights[0] = 0
    grid = LayerGrid().fit(X, names, sample_weight=weights)
    assert_allclose(grid.grid_scores_, LayerGrid().fit(X[1:], y[1:]).grid_scores_)


# --- how rows come ---------------------------------------------------------------


def test_three_dimensions_are_blocks_of_columns():
    X, y = layered()
    solid = LayerGrid().fit(X, y)
    for layers in (3, [6, 6, 6], np.array([6, 6, 6])):
        blocks = LayerGrid(layers).fit(flat(X), y)
        assert_array_equal(solid.grid_scores_, blocks.grid_scores_)
        assert_array_equal(solid.transform(X), blocks.transform(flat(X)))
        assert_array_equal(blocks.transform(X), solid.transform(flat(X)))
        assert_array_equal(LayerGrid(layers).fit(X, y).grid_scores_, solid.grid_scores_)
    assert_array_equal(
        LayerGrid().fit(X.tolist(), y).transform(X[:1].tolist()), solid.transform(X[:1])
    )
    assert solid.n_features_in_ == 18
    assert solid.layer_widths_ == (6, 6, 6)


def test_single_precision_and_frames():
    X, y = layered()
    single = LayerGrid(fuse="mean").fit(X.astype(np.float32), y)
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    names = [f"layer{i}_{j}" for i in range(3) for j in range(6)]
    frame = pd.DataFrame(flat(X), columns=names)
    grid = LayerGrid(3).set_output(transform="pandas").fit(frame, y)
    assert list(grid.feature_names_in_) == names
    assert_array_equal(
        grid.transform(frame).to_numpy(), LayerGrid().fit(X, y).transform(X)
    )
    with pytest.raises(ValueError, match="same order as they were in fit"):
        grid.transform(frame[names[::-1]])


def test_in_pipelines_searches_and_pickles():
    X, y = layered()
    pipeline = make_pipeline(LayerGrid(), LogisticRegression()).fit(X, y)
    assert pipeline.score(X, y) > 0.9
    again = pickle.loads(pickle.dumps(clone(pipeline).fit(X, y)))
    assert_array_equal(again.predict_proba(X), pipeline.predict_proba(X))
    grid = {"layergrid__fuse": ["select", "mean"], "layergrid__n_components": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert search.best_params_["layergrid__fuse"] == "select"
    numbers = make_pipeline(LayerGrid(), KNeighborsRegressor())
    assert numbers.fit(X, X[:, 1, 0] * 1.0).predict(X[:1]).shape == (1,)


def test_the_grid_as_a_frame():
    X, y = layered()
    frame = LayerGrid(fuse="mean").fit(X, y).grid_frame()
    assert list(frame.index) == [0, 1, 2, "fused"]
    assert list(frame.columns) == [1, 2, 4, 6]
    assert list(LayerGrid().fit(X, y).grid_frame().index) == [0, 1, 2]


def test_prefixes():
    X, y = layered()
    grid = LayerGrid(n_components=4).fit(X, y)
    short = grid.prefix(2)
    assert_array_equal(short.transform(X), grid.transform(X)[:, :2])
    assert (short.n_components_, grid.n_components_) == (2, 4)
    with pytest.raises(ValueError, match="Pass n_components=4, say"):
        grid.prefix(5)


# --- what it refuses -------------------------------------------------------------


@pytest.mark.parametrize(
    "layers", [0, -3, 4, (6, 6), (6, 13), (), "abc", (18.0,), 2.5, [True, 17]]
)
def test_layers_that_are_none(layers):
    X, y = layered()
    with pytest.raises(ValueError, match=r"layers=\(18,\)"):
        LayerGrid(layers).fit(flat(X), y)


@pytest.mark.parametrize("layers", [2, (9, 9), (6, 6, 7), 2.5])
def test_layers_that_are_not_those_of_the_rows(layers):
    X, y = layered()
    with pytest.raises(ValueError, match=r"LayerGrid\(layers=None\)"):
        LayerGrid(layers).fit(X, y)


def test_new_rows_need_the_layers_of_fit():
    X, y = layered()
    grid = LayerGrid().fit(X, y)
    for rows in (X[:, :2], X[..., :5], X.reshape(90, 6, 3)):
        with pytest.raises(ValueError, match="with the layers of fit"):
            grid.transform(rows)
    with pytest.raises(ValueError, match="is expecting 18 features"):
        grid.transform(X[:, 0])
    with pytest.raises(ValueError, match="with the layers of fit"):
        LayerGrid((6, 12)).fit(flat(X), y).transform(X)


def test_other_bad_input():
    X, y = layered()
    for rows in (X, flat(X)):
        broken = rows.copy()
        broken[4, ..., 0] = np.nan
        with pytest.raises(ValueError, match="'X' contains NaN, first in row 4"):
            LayerGrid().fit(broken, y)
    with pytest.raises(ValueError, match='pass fuse="concatenate"'):
        LayerGrid((6, 12), fuse="mean").fit(flat(X), y)
    with pytest.raises(ValueError, match=r'use LayerGrid\(objective="variance"\)'):
        LayerGrid(objective="classes").fit(X)
    with pytest.raises(ValueError, match="Pass n_components=6, say"):
        LayerGrid(n_components=7).fit(X, y)
    with pytest.raises(ValueError, match='Pass prefixes="powers"'):
        LayerGrid(prefixes=[3, 7]).fit(X, y)
    with pytest.raises(ValueError, match="two at least"):
        LayerGrid().fit(np.ones((5, 4)))
    with pytest.raises(ValueError, match="Divide all rows by one number"):
        LayerGrid().fit(X * 1e200, y)
    with pytest.raises(ValueError, match='pass fuse="select", or fewer layers'):
        LayerGrid(2, fuse="concatenate").fit(np.eye(2, 40_000))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"layers": 2, "n_components": 2},
        {"layers": 2, "n_components": 2, "fuse": "concatenate"},
        {"layers": 2, "n_components": 2, "fuse": "mean"},
        {"layers": 2, "objective": "classes", "n_components": 2},
    ],
    ids=str,
)
def test_claims_hold_and_what_is_not_claimed_is_broken(params):
    X, y = layered(n=60, n_layers=2, width=3)
    model = LayerGrid(target_type="classes", **params)
    for claim in model.invariances():
        report = check_invariance(model, claim, flat(X), y, n_draws=2)
        assert report.holds, report
    for claim in unclaimed(model):
        report = check_invariance(model, claim, flat(X), y, n_draws=4)
        assert not report.holds, report
