"""Angles and distances between subspaces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles
from scipy.stats import ortho_group

from skrep.metrics import principal_angles, subspace_distance

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(0, 5)


def draw(seed, n_rows, n_columns=6):
    return np.random.default_rng(seed).standard_normal((n_rows, n_columns))


def projection(rows):
    """Onto the span of the rows."""
    return np.linalg.pinv(rows) @ rows if len(rows) else np.zeros([rows.shape[1]] * 2)


def spaces_at(angles, n_columns=None):
    """Two orthonormal bases at the angles given, in random coordinates."""
    r = len(angles)
    n_columns = n_columns or 2 * r
    frame = ortho_group.rvs(n_columns, random_state=0)
    turned = np.cos(angles)[:, None] * frame[:r]
    return frame[:r], turned + np.sin(angles)[:, None] * frame[r : 2 * r]


@given(a=seeds, b=seeds, n=st.integers(1, 5), m=st.integers(1, 5))
@settings(deadline=None)
def test_angles_are_those_of_scipy(a, b, n, m):
    A, B = draw(a, n), draw(b, m)
    angles = principal_angles(A, B)
    assert angles.shape == (min(n, m),)
    assert angles.dtype == np.float64
    assert (np.diff(angles) >= 0).all()
    assert_allclose(angles, subspace_angles(A.T, B.T)[::-1], atol=1e-6)
    assert_allclose(angles, principal_angles(B, A), atol=1e-9)


@pytest.mark.parametrize("tiny", [1e-15, 1e-12, 1e-9, 1e-5])
def test_tiny_and_nearly_right_angles_keep_their_digits_side_by_side(tiny):
    angles = np.array([tiny, 0.3, np.pi / 4, 1.2, np.pi / 2 - tiny])
    found = principal_angles(*spaces_at(angles))
    assert_allclose(found, angles, rtol=0, atol=2e-15)
    smallest = spaces_at(angles[:1], 9)
    assert_allclose(subspace_distance(*smallest), tiny, rtol=0, atol=1e-15)


@given(a=seeds, b=seeds, mix=seeds, n=st.integers(1, 4), m=st.integers(1, 4))
@settings(deadline=None)
def test_only_the_spaces_count_and_rotations_keep_them(a, b, mix, n, m):
    A, B = draw(a, n), draw(b, m)
    # Orthogonal times scales of many sizes: a new basis, well apart from singular.
    lengths = np.logspace(-3, 3, n)[:, None]
    other = np.atleast_2d(ortho_group.rvs(n, random_state=mix)) @ A * lengths
    Q = ortho_group.rvs(6, random_state=mix)
    expected = principal_angles(A, B)
    assert_allclose(principal_angles(other, B), expected, atol=1e-9)
    assert_allclose(principal_angles(A @ Q, B @ Q), expected, atol=1e-9)
    for metric in ("sine", "projection"):
        assert_allclose(
            subspace_distance(other @ Q, B @ Q, metric=metric),
            subspace_distance(A, B, metric=metric),
            atol=1e-9,
        )


@given(a=seeds, b=seeds, n=sizes, m=sizes)
@settings(deadline=None)
def test_distances_are_norms_of_projections(a, b, n, m):
    A, B = draw(a, n), draw(b, m)
    gap = projection(A) - projection(B)
    assert_allclose(subspace_distance(A, B), np.linalg.norm(gap, 2), atol=1e-9)
    assert_allclose(
        subspace_distance(A, B, metric="projection"),
        np.linalg.norm(gap) / np.sqrt(max(n + m, 1)),
        atol=1e-9,
    )


def test_known_angles_give_known_distances():
    angles = np.array([0.1, 0.7])
    A, B = spaces_at(angles, 5)
    assert_allclose(subspace_distance(A, B), np.sin(0.7))
    together = subspace_distance(A, B, metric="projection")
    assert_allclose(together, np.sqrt(np.mean(np.sin(angles) ** 2)))
    trace_correlation = np.trace(projection(A) @ projection(B)) / 2
    assert_allclose(1 - together**2, trace_correlation)


@given(seed=seeds, n=st.integers(1, 5))
@settings(deadline=None)
def test_zero_between_equal_spaces_and_nowhere_else(seed, n):
    A = draw(seed, 6)
    for metric in ("sine", "projection"):
        assert subspace_distance(A[:n], A[n - 1 :: -1], metric=metric) < 1e-12
        assert subspace_distance(A[:n], A[: n + 1], metric=metric) > 0.1
    assert_allclose(principal_angles(A[:n], A[: n + 1]), 0, atol=1e-12)


def test_a_line_within_a_plane():
    e = np.eye(3)
    assert subspace_distance(e[:1], e[:2]) == 1
    assert_allclose(
        subspace_distance(e[:1], e[:2], metric="projection"), np.sqrt(1 / 3)
    )
    assert principal_angles(e[:1], e[:2]).tolist() == [0]


@pytest.mark.parametrize("metric", ["sine", "projection"])
def test_orthogonal_spaces_are_at_one_and_no_direction_is_a_space(metric):
    e, none = np.eye(4), np.empty((0, 4))
    assert subspace_distance(e[:2], e[2:], metric=metric) == 1
    assert subspace_distance(none, e[:3], metric=metric) == 1
    assert subspace_distance(none, none, metric=metric) == 0
    assert principal_angles(none, e[:3]).shape == (0,)
    assert type(subspace_distance(e[:2], e[1:3], metric=metric)) is float


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1e9, 1e300])
def test_lengths_of_the_rows_do_not_make_them_dependent(size):
    A, B = spaces_at(np.array([0.2, 0.4]))
    scaled = A * np.array([[1.0], [size]])
    assert_allclose(principal_angles(scaled, B), [0.2, 0.4])


def test_lists_and_single_precision():
    A, B = spaces_at(np.array([0.2, 0.4]))
    assert_allclose(principal_angles(A.tolist(), B), [0.2, 0.4])
    single = principal_angles(A.astype(np.float32), B.astype(np.float32))
    assert single.dtype == np.float64
    assert_allclose(single, [0.2, 0.4], atol=1e-6)


@pytest.mark.parametrize("measure", [principal_angles, subspace_distance])
def test_errors_name_the_remedy(measure):
    good, who = np.eye(3)[:2], measure.__name__
    dependent = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])
    for bad in (dependent, np.zeros((2, 3)), np.eye(4)[:, :3]):
        for name, pair in (("A", (bad, good)), ("B", (good, bad))):
            remedy = rf"{who}: '{name}' has .* pass scipy.linalg.orth\({name}.T\).T"
            with pytest.raises(ValueError, match=remedy):
                measure(*pair)
    with pytest.raises(ValueError, match=rf"{who}: 'A' has 3 .* pass A.T and B.T"):
        measure(good, np.eye(4))
    with pytest.raises(ValueError, match=f"{who}: Input B contains NaN.* fill them in"):
        measure(good, np.full((2, 3), np.nan))
    with pytest.raises(ValueError, match=f"{who}: Expected 2D array"):
        measure(good, good[0])


def test_unknown_metrics():
    with pytest.raises(ValueError, match=r"'metric' parameter of subspace_distance"):
        subspace_distance(np.eye(2), np.eye(2), metric="chordal")
