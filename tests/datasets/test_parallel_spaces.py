import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skrep.datasets import make_parallel_spaces

RELATIONS = (
    "orthogonal",
    "similarity",
    "invertible_linear",
    "invertible_affine",
    "column_permutation",
    "column_scaling",
    "translation",
    "positive_scaling",
)
REACH = np.sqrt(10) * (1 + 1e-9)

relations = st.sampled_from(RELATIONS)
seeds = st.integers(0, 2**32 - 1)


def fitted_map(X, Y):
    """Least-squares matrix and translation from X to Y, and its worst residual."""
    design = np.column_stack([X, np.ones(len(X))])
    solution = np.linalg.lstsq(design, Y, rcond=None)[0]
    return solution[:-1], solution[-1], np.abs(design @ solution - Y).max()


def is_scaled_isometry(A):
    gram = A @ A.T
    return np.allclose(gram, gram[0, 0] * np.eye(len(A)), atol=1e-8)


@given(relation=relations, seed=seeds, n_features=st.integers(2, 12))
@settings(deadline=None)
def test_the_map_is_of_the_kind_asked_for(relation, seed, n_features):
    X, Y = make_parallel_spaces(
        60, n_features, relation=relation, random_state=seed, noise=0.0
    )
    A, t, residual = fitted_map(X, Y)
    assert residual < 1e-9
    singular = np.linalg.svd(A, compute_uv=False)
    assert singular[0] <= 10 * singular[-1] * (1 + 1e-9)
    moves = relation in {"similarity", "invertible_affine", "translation"}
    assert (np.linalg.norm(t) > 1e-3) == moves
    if relation in {"orthogonal", "similarity"}:
        assert is_scaled_isometry(A)
        assert relation == "similarity" or np.isclose(singular[0], 1)
    elif relation.startswith("invertible"):
        assert not is_scaled_isometry(A)
        assert singular[0] <= REACH
        assert singular[-1] >= 1 / REACH
    elif relation == "column_permutation":
        equal = (X.T[:, None] == Y.T).all(axis=2)
        order = equal.argmax(axis=0).tolist()
        assert equal.sum() == n_features
        assert sorted(order) == list(range(n_features))
    elif relation == "translation":
        assert_allclose(A, np.eye(n_features), atol=1e-8)
        length = np.sqrt(np.mean(np.sum(X**2, axis=1)))
        assert_allclose(np.linalg.norm(Y[0] - X[0]), length)
    else:
        scales = np.median(Y / X, axis=0)
        assert_allclose(Y, X * scales)
        assert scales.max() <= REACH
        assert scales.min() >= 1 / REACH
        assert (np.ptp(scales) < 1e-9) == (relation == "positive_scaling")


def test_rotations_are_drawn_uniformly():
    # In one column that is a fair coin; QR alone would always answer alike.
    pairs = [make_parallel_spaces(2, 1, random_state=seed) for seed in range(40)]
    signs = [np.sign(Y[0, 0] / X[0, 0]) for X, Y in pairs]
    assert 8 < signs.count(1.0) < 32


@given(relation=relations, seed=seeds, noise=st.sampled_from([0.0, 0.3]))
@settings(deadline=None)
def test_an_int_gives_the_same_spaces_and_the_first_is_always_the_same(
    relation, seed, noise
):
    options = {"n_samples": 20, "n_features": 4, "n_classes": 3, "random_state": seed}
    first = make_parallel_spaces(**options, relation=relation, noise=noise)
    second = make_parallel_spaces(**options, relation=relation, noise=noise)
    for one, other in zip(first, second, strict=True):
        assert_array_equal(one, other)
    plain = make_parallel_spaces(**options)
    assert_array_equal(first[0], plain[0])
    assert_array_equal(first[2], plain[2])


@pytest.mark.parametrize("random_state", [None, 0, np.random.default_rng(0)])
def test_the_global_random_state_is_untouched(random_state):
    before = np.random.get_state()[1:3]  # noqa: NPY002 -- the global state is the point
    make_parallel_spaces(random_state=random_state, n_classes=2, noise=0.1)
    after = np.random.get_state()[1:3]  # noqa: NPY002
    assert_array_equal(before[0], after[0])
    assert before[1] == after[1]


@pytest.mark.parametrize("source", [np.random.default_rng, np.random.RandomState])
def test_generators_are_drawn_from(source):
    spaces = [make_parallel_spaces(20, 3, random_state=source(5)) for _ in range(2)]
    assert_array_equal(spaces[0][0], spaces[1][0])
    shared = source(5)
    once = make_parallel_spaces(20, 3, random_state=shared)[0]
    assert not np.allclose(once, make_parallel_spaces(20, 3, random_state=shared)[0])


def test_shapes_types_and_balanced_labels():
    X, Y, labels = make_parallel_spaces(50, 7, n_classes=4, random_state=0)
    assert X.shape == Y.shape == (50, 7)
    assert X.dtype == Y.dtype == np.float64
    assert labels.dtype == np.int64
    assert sorted(np.bincount(labels)) == [12, 12, 13, 13]
    assert not (np.diff(labels) >= 0).all()
    assert len(make_parallel_spaces(5, 2)) == 2


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("noise", [0.05, 1.0])
def test_noise_is_a_share_of_the_spread_of_y(relation, noise):
    options = {"n_samples": 2000, "relation": relation, "random_state": 3}
    clean = make_parallel_spaces(**options)[1]
    noisy = make_parallel_spaces(**options, noise=noise)[1]
    spread = np.sqrt(np.mean((clean - clean.mean(axis=0)) ** 2))
    assert_allclose(np.sqrt(np.mean((noisy - clean) ** 2)) / spread, noise, rtol=0.03)


@pytest.mark.parametrize("class_sep", [0.0, 2.0, 8.0])
def test_classes_are_as_far_apart_as_asked_and_variances_decay(class_sep):
    n_features, n_classes = 12, 60
    X, _, labels = make_parallel_spaces(
        30_000, n_features, n_classes=n_classes, class_sep=class_sep, random_state=0
    )
    means = np.array([X[labels == c].mean(axis=0) for c in range(n_classes)])
    within = np.cov((X - means[labels]).T)
    variances = np.linalg.eigvalsh(within)[::-1]
    assert_allclose(variances * np.arange(1, n_features + 1), variances[0], rtol=0.08)
    gaps = means[:, None] - means
    squared = np.einsum("abi,ij,abj->ab", gaps, np.linalg.inv(within), gaps)
    mean = squared.sum() / (n_classes * (n_classes - 1))
    # Estimated means differ by sampling alone: 2 n_features / rows per class.
    expected = class_sep**2 + 2 * n_features / (len(X) / n_classes)
    assert_allclose(mean, expected, rtol=0.1)


def test_rows_lie_off_the_origin():
    X, _ = make_parallel_spaces(5000, 20, random_state=0)
    assert_allclose(np.linalg.norm(X.mean(axis=0)), 1, rtol=0.1)
    assert_allclose(np.sqrt(np.var(X, axis=0).sum()), 1, rtol=0.1)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_samples", 0),
        ("n_features", 0),
        ("n_classes", 0),
        ("relation", "rotate"),
        ("noise", -0.1),
        ("noise", np.inf),
        ("class_sep", np.nan),
        ("random_state", "seed"),
    ],
)
def test_bad_parameters(parameter, value):
    match = f"The '{parameter}' parameter of make_parallel_spaces must be"
    with pytest.raises(ValueError, match=match):
        make_parallel_spaces(**{parameter: value})


def test_fewer_rows_than_classes():
    with pytest.raises(ValueError, match="pass n_samples=7 or more"):
        make_parallel_spaces(6, n_classes=7)
    assert len(make_parallel_spaces(7, n_classes=7)[2]) == 7
