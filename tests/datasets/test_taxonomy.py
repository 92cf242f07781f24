import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import r2_score
from sklearn.preprocessing import OrdinalEncoder

from skrep.datasets import _taxonomy, make_taxonomy_regression
from skrep.graph import relations_from_edges
from tests.strategies import seeds


def by_category(X, effects):
    return dict(zip(X[:, 0].tolist(), effects.tolist(), strict=True))


@given(n_categories=st.integers(2, 60), seed=seeds)
def test_a_tree_of_leaves_and_of_nodes_with_two_to_five_children(n_categories, seed):
    X, y, taxonomy, effects = make_taxonomy_regression(
        30, n_categories, random_state=seed
    )
    assert X.shape == (30, 1)
    assert X.dtype == object
    assert y.shape == effects.shape == (30,)
    names, parents = set(taxonomy), set(taxonomy.values())
    leaves = names - parents
    assert len(leaves) == n_categories
    assert {name[0] for name in leaves} == {"c"}
    assert {name[0] for name in parents - {"root"}} <= {"n"}
    assert parents - names == {"root"}
    counts = np.unique(list(taxonomy.values()), return_counts=True)[1]
    assert counts.min() >= 2
    assert counts.max() <= 5
    assert set(X[:, 0]) <= leaves
    matrix, labels = relations_from_edges(taxonomy)
    related = np.diff(matrix.indptr)
    assert related[labels == "root"] == 0
    assert (related[labels != "root"] > 0).all()


def test_one_category_has_one_effect_and_noise_its_size():
    X, y, _, effects = make_taxonomy_regression(random_state=0)
    known = by_category(X, effects)
    assert_array_equal([known[name] for name in X[:, 0]], effects)
    assert_allclose(np.std(y - effects), 0.5, rtol=0.03)
    assert_allclose(np.std(effects), 0.6, rtol=0.05)
    assert_allclose(np.mean(list(known.values())), 0, atol=0.01)
    assert_allclose(r2_score(y, effects), 0.59, atol=0.03)
    assert_array_equal(make_taxonomy_regression(noise=0, random_state=0)[1], effects)


def test_variance_of_an_effect_halves_by_level():
    rng = np.random.default_rng(0)
    parents = [-1, 0, 1, 2]
    draws = np.array([_taxonomy._sum_effects(parents, rng) for _ in range(20_000)])
    variances = np.diff(draws, axis=1).var(axis=0)
    assert_allclose(variances, [1 / 2, 1 / 4, 1 / 8], rtol=0.05)
    assert_array_equal(draws[:, 0], 0)
    assert_allclose(
        np.corrcoef(draws[:, 1], (draws[:, 2] - draws[:, 1]))[0, 1], 0, atol=0.03
    )


def test_near_categories_have_like_effects_and_names_tell_nothing():
    X, _, taxonomy, effects = make_taxonomy_regression(random_state=1)
    known = by_category(X, effects)
    names = sorted(known)
    siblings = {}
    for name in names:
        siblings.setdefault(taxonomy[name], []).append(known[name])
    within = np.mean(
        [np.var(group, ddof=1) for group in siblings.values() if len(group) > 1]
    )
    assert within < 0.1 * np.var(list(known.values()))
    codes = OrdinalEncoder().fit_transform(X)[:, 0]
    assert abs(np.corrcoef(codes, effects)[0, 1]) < 0.05


def test_frames():
    X, y, _, _ = make_taxonomy_regression(20, 5, as_frame=True, random_state=0)
    rows, target, _, _ = make_taxonomy_regression(20, 5, random_state=0)
    assert list(X.columns) == ["category"]
    assert isinstance(y, pd.Series)
    assert_array_equal(X.to_numpy(), rows)
    assert_array_equal(y, target)


def test_random_states():
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    for make in (
        lambda: 3,
        lambda: np.random.default_rng(3),
        lambda: np.random.RandomState(3),
    ):
        one, other = (
            make_taxonomy_regression(20, 9, random_state=make()) for _ in range(2)
        )
        for a, b in zip(one, other, strict=True):
            if isinstance(a, dict):
                assert a == b
            else:
                assert_array_equal(a, b)
    first, second = (make_taxonomy_regression(20, 9)[1] for _ in range(2))
    assert (first != second).all()
    assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 0}, "'n_samples'"),
        ({"n_categories": 1}, "'n_categories'"),
        ({"noise": -1}, "'noise'"),
        ({"as_frame": 1.5}, "'as_frame'"),
        ({"random_state": "a"}, "'random_state'"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_taxonomy_regression(**parameters)
