"""How many directions tell the target."""

import numpy as np
import pytest
from sklearn.cross_decomposition import CCA

from skrep.datasets import make_index_model
from skrep.linalg import bartlett_test, quantile_edges, slice_codes
from skrep.metrics import order_test


def model(links, seed=0, n=600, d=6):
    return make_index_model(n, d, links=links, design="ar1", random_state=seed)[:2]


@pytest.mark.parametrize(
    ("links", "chi2", "permutation"),
    [("none", 0, 0), ("linear", 1, 1), ("ratio", 2, 2), ("even", 0, 1)],
)
def test_directions_are_counted_by_what_the_test_can_see(links, chi2, permutation):
    X, y = model(links, n=1000)
    assert order_test(X, y).n_components == chi2
    found = order_test(X, y, method="permutation", n_permutations=39, random_state=0)
    assert found.n_components == permutation
    assert (found.p_values[:-1] < 0.05).all()
    assert found.p_values[-1] >= 0.05


def test_chi2_is_bartletts_test_of_canonical_correlations():
    X, y = model("linear")
    codes = slice_codes(y, quantile_edges(y, 5))
    indicators = np.eye(5)[codes][:, :4]
    cca = CCA(n_components=4, scale=False, max_iter=5000, tol=1e-12).fit(X, indicators)
    A, B = cca.transform(X, indicators)
    squares = np.array(
        [np.corrcoef(a, b)[0, 1] ** 2 for a, b in zip(A.T, B.T, strict=True)]
    )
    expected = [bartlett_test(squares[r:], 600, 6 - r, 4 - r)[1] for r in range(2)]
    found = order_test(X, y, n_slices=5)
    np.testing.assert_allclose(found.p_values, expected, rtol=1e-4, atol=1e-12)


@pytest.mark.parametrize("method", ["chi2", "permutation"])
def test_the_level_holds(method):
    rng = np.random.default_rng(0)
    rejected = 0
    for _ in range(60):
        X, y = rng.standard_normal((120, 4)), rng.standard_normal(120)
        found = order_test(
            X, y, method=method, level=0.2, n_permutations=19, random_state=0
        )
        rejected += found.n_components > 0
    assert 4 <= rejected <= 20


def test_every_direction_may_count():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    found = order_test(X, (X[:, 0] > 0) + 2.0 * (X[:, 1] > 0), target_type="classes")
    assert found.n_components == 2
    assert (found.p_values < 0.05).all()


def test_affine_maps_change_nothing():
    X, y = model("ratio")
    rng = np.random.default_rng(1)
    A = rng.standard_normal((6, 6)) * 10.0 ** np.arange(-3, 3)
    one, other = order_test(X, y), order_test(X @ A + 5, y)
    np.testing.assert_allclose(other.p_values, one.p_values, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.eye(30), np.arange(30.0), {}, r"twice as many rows.*PCA\(n_components=10"),
        (np.eye(30)[:, :3], np.ones(30), {}, "one value.*rows of several values"),
        (np.ones((30, 2)), np.arange(30.0), {}, "constant in every.*rows that differ"),
        (np.eye(30)[:, :3], np.arange(30.0), {"level": 0}, "'level'"),
        (np.eye(30)[:, :3], ["a"] * 30, {"target_type": "numbers"}, r"y.astype\(fl"),
    ],
)
def test_errors_name_the_remedy(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        order_test(X, y, **options)
