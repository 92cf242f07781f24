"""Hyperbolic scaling: recovery, new rows, the choice of scale, and what it refuses."""

import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import shortest_path
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import _VALID_METRICS

from skrep.exceptions import FewerColumnsWarning, ThinDataWarning
from skrep.geometry import poincare
from skrep.hyperbolic import HyperbolicMDS, _mds_distances, _mds_solution
from skrep.invariance import check_invariance, unclaimed
from tests.strategies import seeds

RNG = np.random.default_rng(0)
TREE = nx.random_labeled_tree(25, seed=0)
X = RNG.normal(size=(40, 4)) * [3, 2, 1, 1] + [1, 0, 5, 0]
GIVEN = HyperbolicMDS(metric="precomputed")


def polar(n, d, radius, seed=0):
    """Distances from the origin and directions of random points."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(n, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return radius * rng.uniform(size=n), directions


def hyperbolic(n, d, radius, seed=0):
    """Their mutual distances, by the law of cosines in half angles."""
    rho, u = (part.astype(np.longdouble) for part in polar(n, d, radius, seed))
    chords = np.sum((u[:, None] - u) ** 2, axis=-1) / 4
    half = np.sinh((rho[:, None] - rho) / 2) ** 2
    half += np.sinh(rho)[:, None] * np.sinh(rho) * chords
    D = (2 * np.arcsinh(np.sqrt(half))).astype(float)
    np.fill_diagonal(D, 0)
    return (D + D.T) / 2


def path_lengths(graph):
    return shortest_path(nx.to_scipy_sparse_array(graph), unweighted=True)


def worst_ratio(found, expected):
    apart = expected > 0
    return np.abs(found[apart] / expected[apart] - 1).max()


def naive_points(D, r):
    """The formulas, with all eigenpairs."""
    values, vectors = np.linalg.eigh(-np.cosh(D))
    columns = []
    for k in range(1, r + 1):
        column = np.sqrt(values[-k]) * vectors[:, -k]
        columns.append(column * np.sign(column[np.argmax(np.abs(column))]))
    space = np.array(columns).T
    return space / (1 + np.sqrt(1 + np.sum(space**2, axis=1, keepdims=True)))


# --- recovery --------------------------------------------------------------------


@pytest.mark.parametrize("radius", [2, 8, 12, 18])
@pytest.mark.parametrize("seed", range(2))
def test_hyperbolic_distances_are_recovered_and_new_points_placed(radius, seed):
    D = hyperbolic(250, 5, radius, seed)
    mds = HyperbolicMDS(5, metric="precomputed", scale=1).fit(D[:200, :200])
    points = mds.embedding_
    assert worst_ratio(poincare.pairwise_distances(points), D[:200, :200]) <= 1e-9
    new = mds.transform(D[200:, :200])
    assert worst_ratio(poincare.pairwise_distances(new, points), D[200:, :200]) <= 1e-9
    assert worst_ratio(poincare.pairwise_distances(new), D[200:, 200:]) <= 1e-9
    assert mds.stress_ <= 1e-9


@given(seed=seeds, d=st.integers(1, 5), n=st.integers(2, 16))
@settings(max_examples=12)
def test_points_of_the_ball_come_back_up_to_an_isometry(seed, d, n):
    rng = np.random.default_rng(seed)
    points = poincare.exp_map_origin(rng.normal(size=(n, d)))
    there = poincare.mobius_add(0.3 * rng.uniform(size=d), points)
    one, other = (
        HyperbolicMDS(min(d, n - 1), metric=poincare.distance, scale=1).fit(rows)
        for rows in (points, there)
    )
    D = poincare.pairwise_distances(points)
    for mds in (one, other):
        found = poincare.pairwise_distances(mds.embedding_)
        assert_allclose(found, D, atol=1e-6)


@pytest.mark.parametrize("r", [1, 2, 4])
def test_points_are_those_of_the_formulas(r):
    mds = HyperbolicMDS(r, scale=0.3).fit(X)
    D = 0.3 * pairwise_distances(X)
    assert_allclose(mds.embedding_, naive_points(D, r), atol=1e-11)
    assert_allclose(mds.eigenvalues_, np.linalg.eigvalsh(-np.cosh(D))[: -r - 1 : -1])
    found = poincare.pairwise_distances(mds.embedding_)
    pairs = [(i, j) for i in range(40) for j in range(i)]
    errors = sum((found[i, j] - D[i, j]) ** 2 for i, j in pairs)
    assert_allclose(
        mds.stress_, np.sqrt(errors / sum(D[i, j] ** 2 for i, j in pairs)), rtol=1e-7
    )
    shares = np.sqrt(mds.eigenvalues_) / np.sqrt(mds.eigenvalues_).sum()
    assert_allclose(mds.effective_rank_, np.prod(shares**-shares))


@pytest.mark.parametrize(
    "graph",
    [
        nx.balanced_tree(2, 6),
        nx.star_graph(120),
        nx.cycle_graph(90),
        nx.complete_graph(100),
        pytest.param(nx.hypercube_graph(8), id="where Lanczos does not converge"),
    ],
    ids=str,
)
@pytest.mark.parametrize("reach", [2, 30])
def test_eigenvalues_that_tie_are_all_found(graph, reach):
    D = path_lengths(graph)
    D *= reach / D.max()
    values = np.linalg.eigvalsh(-np.cosh(D))
    found = _mds_solution.solve(D, 10)
    rounding = 1e-12 * np.abs(values).max()
    assert_allclose(found.values, values[:-11:-1], rtol=1e-10, atol=rounding)
    space = -found.weights * found.values
    assert_allclose(space.T @ space, np.diag(found.values), atol=10 * rounding)
    again = _mds_solution.solve(D, 10)
    assert_array_equal(again.points, found.points)


def test_fewer_solutions_than_the_whole_where_lanczos_fails(monkeypatch):
    from scipy.sparse import linalg

    def fails(*args, **kwargs):
        raise linalg.ArpackNoConvergence(
            "no convergence", np.zeros(0), np.zeros((0, 0))
        )

    D = pairwise_distances(X) / 10
    expected = _mds_solution.solve(D, 3)
    monkeypatch.setattr(linalg, "eigsh", fails)
    assert_allclose(_mds_solution.solve(D, 3).points, expected.points, atol=1e-12)


# --- new rows --------------------------------------------------------------------


@pytest.mark.parametrize(
    "metric", ["euclidean", "manhattan", "cosine", "correlation", poincare.distance]
)
def test_fitted_rows_get_their_points(metric):
    rows = X / 20
    mds = HyperbolicMDS(3, metric=metric)
    assert_array_equal(mds.fit_transform(rows), mds.embedding_)
    assert_allclose(mds.transform(rows), mds.embedding_, atol=1e-9)


def test_fitted_distances_get_their_points():
    D = hyperbolic(60, 3, 10)
    mds = HyperbolicMDS(3, metric="precomputed", scale=1).fit(D)
    assert_allclose(mds.transform(D), mds.embedding_, atol=1e-9)


def test_a_far_row_is_at_the_rim_in_its_direction():
    mds = HyperbolicMDS(2, scale=0.5).fit(X[:, :2])
    near, far, farther = (
        mds.transform(k * np.ones((1, 2)))[0] for k in (100, 10_000, 1e150)
    )
    for point in (far, farther):
        assert 1 - 1e-9 < np.linalg.norm(point) < 1
        assert np.isfinite(poincare.distance(point, np.zeros(2)))
    assert_allclose(far, near, atol=0.1)


@pytest.mark.parametrize("unit", [1e-150, 1e-3, 1.0, 1e140])
@pytest.mark.parametrize("offset", [0, 1e6])
def test_unit_and_origin_do_not_matter(unit, offset):
    rows = np.round(X * 64) / 64 + offset
    mds = HyperbolicMDS(2).fit(unit * rows)
    expected = HyperbolicMDS(2).fit(rows - offset)
    assert_allclose(mds.embedding_, expected.embedding_, atol=1e-6)
    assert_allclose(mds.scale_ * unit, expected.scale_, rtol=1e-6)
    assert_allclose(mds.transform(unit * rows[:3]), expected.embedding_[:3], atol=1e-6)


def test_the_model_keeps_its_own_rows():
    rows = X.copy()
    mds = HyperbolicMDS(2).fit(rows)
    expected = mds.transform(X[:5])
    rows[:] = 0
    assert_array_equal(mds.transform(X[:5]), expected)


def test_no_square_matrix_is_kept():
    D = hyperbolic(300, 2, 3)
    mds = HyperbolicMDS(metric="precomputed", scale=1).fit(D)
    assert len(pickle.dumps(mds)) < D.nbytes / 10
    rows = RNG.normal(size=(300, 3))
    assert len(pickle.dumps(HyperbolicMDS(scale=1).fit(rows))) < D.nbytes / 10


def test_float32_stays_float32():
    rows = X.astype(np.float32)
    mds = HyperbolicMDS(3).fit(rows)
    parts = (mds.embedding_, mds.eigenvalues_, mds.transform(rows))
    assert {part.dtype for part in parts} == {np.dtype(np.float32)}
    assert_allclose(mds.embedding_, HyperbolicMDS(3).fit(X).embedding_, atol=1e-3)
    far = mds.transform(1e6 * rows)
    assert np.isfinite(poincare.distance(far, np.zeros(3, np.float32))).all()


def test_columns_are_named():
    names = HyperbolicMDS(3).fit(X).get_feature_names_out()
    assert_array_equal(names, ["hyperbolicmds0", "hyperbolicmds1", "hyperbolicmds2"])


# --- the scale -------------------------------------------------------------------


@pytest.mark.parametrize("unit", [0.01, 1.0, 50.0])
def test_the_unit_of_hyperbolic_distances_is_found(unit):
    D = hyperbolic(80, 2, 5)
    mds = HyperbolicMDS(2, metric="precomputed").fit(unit * D)
    assert_allclose(mds.scale_ * unit, 1, rtol=0.02)


@pytest.mark.parametrize(
    "D",
    [
        pytest.param(pairwise_distances(X), id="Euclidean"),
        pytest.param(path_lengths(TREE), id="tree"),
        pytest.param(hyperbolic(40, 3, 4), id="hyperbolic"),
    ],
)
def test_no_other_scale_is_better(D):
    def mean_error(scale):
        mds = HyperbolicMDS(2, metric="precomputed", scale=scale).fit(D)
        found = poincare.pairwise_distances(mds.embedding_) / scale
        apart = D > 0
        return np.mean(np.abs(found[apart] - D[apart]) / D[apart])

    chosen = GIVEN.fit(D).scale_
    assert chosen * D.max() <= 30 * (1 + 1e-9)
    others = np.geomspace(0.3, 30, 25) / D.max()
    assert mean_error(chosen) <= min(map(mean_error, others)) + 2e-3


def test_of_scales_that_are_as_good_the_smallest_is_taken():
    line = np.array([[0.0], [1.0], [3.0], [7.0]])
    mds = HyperbolicMDS(1).fit(line)
    assert_allclose(mds.scale_ * 7, 30 / 2.5**5)
    assert mds.stress_ <= 1e-9
    recovered = poincare.pairwise_distances(mds.embedding_) / mds.scale_
    assert_allclose(recovered, np.abs(line - line.T), atol=1e-9)


def test_copies_do_not_decide_the_scale():
    D = hyperbolic(40, 2, 5)
    almost = changed(D, {(0, 1): 1e-9, (1, 0): 1e-9})
    assert_allclose(GIVEN.fit(almost).scale_, 1, rtol=0.05)


@pytest.mark.parametrize("scale", [37 / 10, 1e6, 1e300])
def test_a_scale_that_loses_small_distances_is_refused(scale):
    D = path_lengths(nx.path_graph(11))
    with pytest.raises(
        ValueError, match=r"HyperbolicMDS: 'scale'.* Pass scale='auto', or scale=3\."
    ):
        HyperbolicMDS(metric="precomputed", scale=scale).fit(D)


# --- metrics ---------------------------------------------------------------------


def test_metrics_are_those_of_scikit_learn():
    left_out = {
        "mahalanobis",  # Their parameters come from all rows.
        "seuclidean",
        "nan_euclidean",  # The others refuse NaN.
        "russellrao",  # Not 0 between equal rows.
        "matching",  # Old names.
        "wminkowski",
    }
    assert set(_mds_distances.METRICS) - {"precomputed"} == (
        set(_VALID_METRICS) - left_out
    )


@pytest.mark.parametrize(
    "metric", sorted(set(_mds_distances.METRICS) - {"precomputed"})
)
def test_distances_are_those_of_scikit_learn(metric):
    rows = X[:, :2] / 5 if metric == "haversine" else X
    if metric in ("dice", "jaccard", "rogerstanimoto", "sokalsneath", "yule"):
        rows = X > 0.5
        expected = pairwise_distances(rows, metric=metric)
    else:
        expected = pairwise_distances(rows, metric=metric)
    rows = rows.astype(np.float64)
    found = _mds_distances.measure("here", metric, rows, rows)
    assert_allclose(found, expected, atol=1e-7)
    assert_array_equal(np.diag(found), 0)
    assert np.isfinite(HyperbolicMDS(1, metric=metric).fit_transform(rows)).all()


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_rows_without_direction(metric):
    rows = np.vstack([X[:, :3], np.zeros((2, 3))])
    if metric == "correlation":
        rows[-2:] = 0.1
    found = _mds_distances.measure("here", metric, rows, rows)
    assert_array_equal(found[-2:, -2:], 0)
    assert_array_equal(found[-2:, :-2], 1)


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("metric", _mds_distances.SPARSE)
def test_sparse_rows(metric, container):
    rows = np.where(RNG.uniform(size=X.shape) < 0.5, 0, X)
    mds = HyperbolicMDS(2, metric=metric, scale=0.1)
    dense = mds.fit(rows).transform(rows[:7])
    assert_allclose(
        mds.fit(container(rows)).transform(container(rows[:7])), dense, atol=1e-7
    )


# --- what is refused -------------------------------------------------------------


def changed(D, entries):
    D = D.copy()
    for place, value in entries.items():
        D[place] = value
    return D


STEPS = path_lengths(nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (2, 5), (5, 6)]))


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (
            changed(STEPS, {(1, 3): np.inf}),
            r"contains infinity, first in row 1, column 3.*csgraph\.shortest_path",
        ),
        (changed(STEPS, {(0, 4): np.nan}), r"contains NaN.*csgraph\.shortest_path"),
        (changed(STEPS, {(2, 1): -1}), r"contains -1, first in row 2, column 1.*1 - S"),
        (changed(STEPS, {(2, 1): 7}), r"not symmetric.*Pass \(X \+ X\.T\) / 2"),
        (
            STEPS + np.eye(7),
            r"1 between row 0 and itself.*X - np\.diag\(np\.diag\(X\)\)",
        ),
        (STEPS[:, :4], r"shape \(7, 4\).*sklearn\.metrics\.pairwise_distances\(X\)"),
    ],
)
def test_what_cannot_be_distances_is_refused(D, message):
    with pytest.raises(ValueError, match=f"^HyperbolicMDS: .*{message}"):
        HyperbolicMDS(metric="precomputed").fit(D)


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_the_remedy_for_missing_distances_works(value):
    graph = np.where(STEPS == 1, 1.0, value)
    np.fill_diagonal(graph, 0)
    whole = shortest_path(graph, directed=False)
    assert_allclose(GIVEN.fit(whole).embedding_, GIVEN.fit(STEPS).embedding_)
    with pytest.raises(ValueError, match="shortest_path"):
        GIVEN.fit(whole).transform(graph[:1])
    with pytest.raises(ValueError, match="Negative values in data"):
        GIVEN.fit(whole).transform(-whole[:1])


def test_a_sparse_graph_is_refused_with_the_remedy():
    graph = sp.csr_array(np.where(STEPS == 1, 1.0, 0.0))
    for call in (GIVEN.fit, GIVEN.fit(STEPS).transform):
        with pytest.raises(TypeError, match=r"shortest_path\(X, dir.*tree_dis") as seen:
            call(graph)
        assert "toarray" not in str(seen.value)
    graph.indices, graph.indptr = (
        part.astype(np.int64) for part in (graph.indices, graph.indptr)
    )
    with pytest.raises(TypeError, match=r"HyperbolicMDS: .*toarray"):
        HyperbolicMDS(metric="cosine").fit(graph)


def test_edges_taken_for_distances_are_told():
    edges = np.where(STEPS == 1, 1.0, 0.0)
    message = r"0 between 71% of the pairs.*shortest_path\(X, directed=False\)"
    with pytest.warns(ThinDataWarning, match=message):
        GIVEN.fit(edges)
    assert_array_equal(shortest_path(edges, directed=False), STEPS)
    with pytest.raises(
        ValueError, match=r"not symmetric.*shortest_path\(X, directed=F"
    ):
        GIVEN.fit(np.triu(edges))
    half = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0.0]])
    HyperbolicMDS(1, metric="precomputed").fit(half)


def test_a_slight_asymmetry_is_rounding():
    D = changed(STEPS, {(0, 1): 1 + 1e-12, (2, 2): 1e-13})
    assert_allclose(GIVEN.fit(D).embedding_, GIVEN.fit(STEPS).embedding_, atol=1e-9)
    even = _mds_distances.check_square("here", D, np.float64, given=True)
    assert_array_equal(even, even.T)
    assert_array_equal(np.diag(even), 0)


def test_distances_that_break_the_triangle_inequality_are_approximated():
    D = changed(STEPS, {(0, 2): 9.0, (2, 0): 9.0})
    mds = HyperbolicMDS(metric="precomputed").fit(D)
    assert np.isfinite(mds.embedding_).all()
    assert mds.stress_ > GIVEN.fit(STEPS).stress_ + 0.05


@pytest.mark.parametrize(
    ("metric", "rows", "message"),
    [
        (lambda x, y: -abs(x - y).sum(), X, r"gives -.* Drop such rows"),
        (lambda x, y: 1.0, X, r"1 between row 0 and itself.*0 for equal rows"),
        ("braycurtis", np.zeros((3, 2)), r"gives NaN between row 0.*Drop such rows"),
        ("haversine", X, "is 'haversine': .*only valid in 2 dimensions"),
    ],
)
def test_metrics_that_do_not_suit_the_rows(metric, rows, message):
    with pytest.raises(ValueError, match=f"^HyperbolicMDS: '(metric|X)'.*{message}"):
        HyperbolicMDS(metric=metric).fit(rows)


@pytest.mark.parametrize("value", [0, -1, 1.5, True, None, "2"])
def test_n_components_is_an_integer_from_one(value):
    with pytest.raises(ValueError, match=r"'n_components' is .*Pass n_components=2"):
        HyperbolicMDS(value).fit(X)


def test_rows_so_large_that_squares_overflow():
    with pytest.raises(ValueError, match=r"gives infinity.*divide huge ones"):
        HyperbolicMDS(scale=1).fit(X).transform(1e200 * X)


# --- few positive eigenvalues ----------------------------------------------------


@pytest.mark.parametrize("rows", [X[:1], np.repeat(X[:1], 6, axis=0)])
def test_equal_rows_are_at_the_origin(rows):
    with pytest.warns(FewerColumnsWarning, match="only 0 positive.*n_components=1"):
        mds = HyperbolicMDS().fit(rows)
    assert_array_equal(mds.embedding_, 0)
    assert_array_equal(mds.transform(X[:3]), 0)
    assert (mds.scale_, mds.stress_, mds.effective_rank_) == (1, 0, 0)


@pytest.mark.parametrize("n_components", [2, 7])
def test_columns_without_an_eigenvalue_are_zero(n_components):
    line = np.array([[0.0, 0.0], [1.0, 1.0], [4.0, 4.0]])
    with pytest.warns(FewerColumnsWarning, match="only 1 positive.*n_components=1"):
        mds = HyperbolicMDS(n_components).fit(line)
    assert mds.embedding_.shape == (3, n_components)
    assert_array_equal(mds.embedding_[:, 1:], 0)
    assert_array_equal(mds.eigenvalues_ > 0, np.arange(n_components) == 0)
    assert_allclose(mds.effective_rank_, 1)
    assert_allclose(mds.transform(line), mds.embedding_, atol=1e-9)


# --- invariance ------------------------------------------------------------------

VARIANTS = [
    *(
        HyperbolicMDS(2, metric=metric, scale=scale)
        for metric in ("euclidean", "manhattan")
        for scale in ("auto", 0.05)
    ),
    HyperbolicMDS(2, metric="sqeuclidean", scale=0.001),
    *(
        HyperbolicMDS(2, metric=metric, scale=0.05)
        for metric in ("chebyshev", "cosine", "correlation", "canberra", "braycurtis")
    ),
]


@pytest.mark.parametrize("mds", VARIANTS, ids=str)
def test_claims_hold(mds):
    for claim in mds.invariances():
        report = check_invariance(mds, claim, X[:20], n_draws=2)
        assert report.holds, report


@pytest.mark.parametrize("mds", VARIANTS, ids=str)
def test_what_is_not_claimed_is_broken(mds):
    claims = unclaimed(mds)
    assert claims
    for claim in claims:
        report = check_invariance(mds, claim, X[:20], n_draws=2)
        assert not report.holds, report


def test_functions_of_two_rows_claim_the_least():
    mds = HyperbolicMDS(metric=poincare.distance)
    assert [claim.group for claim in mds.invariances()] == ["row_permutation"]
    (claim,) = mds.invariances()
    assert check_invariance(mds, claim, X[:10] / 20, n_draws=2).holds


@pytest.mark.parametrize("scale", ["auto", 0.1])
def test_claims_about_given_distances(scale):
    mds = HyperbolicMDS(2, metric="precomputed", scale=scale)
    D = pairwise_distances(X[:20])
    groups = {claim.group for claim in mds.invariances()}
    assert groups == {"tree_relabelling", *["positive_scaling"] * (scale == "auto")}
    for claim in mds.invariances():
        assert check_invariance(mds, claim, D, n_draws=2).holds
    for claim in unclaimed(mds):
        assert not check_invariance(mds, claim, D, n_draws=2).holds
