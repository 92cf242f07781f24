"""K-means in the ball: naive loops, small radii, seeds, and odd data."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from skrep.exceptions import FewerColumnsWarning
from skrep.geometry import poincare
from skrep.hyperbolic import PoincareKMeans, _kmeans, _lloyd
from skrep.hyperbolic._lloyd import lloyd, search, spread_out
from skrep.hyperbolic._points import distinct_points
from skrep.invariance import check_invariance, unclaimed
from tests.hyperbolic.test_nearest_centroid import branches
from tests.strategies import seeds


def inertia_of(points, weights, centers):
    distances = poincare.pairwise_distances(points, centers)
    return weights @ distances.min(axis=1) ** 2


def naive_step(points, weights, centers):
    """Labels by a loop over rows, means by the public function."""
    labels = [
        min(range(len(centers)), key=lambda k: poincare.distance(x, centers[k]))
        for x in points
    ]
    labels = np.array(labels)
    return np.array(
        [
            poincare.frechet_mean(points[labels == k], weights[labels == k])
            for k in range(len(centers))
        ]
    )


# --- the pure functions ----------------------------------------------------------


@given(seed=seeds, radius=st.sampled_from([0.1, 3.0, 8.0]))
@settings(max_examples=15)
def test_a_step_is_the_naive_one_and_inertia_never_rises(seed, radius):
    V, _ = branches(seed, radius=radius)
    points = poincare.exp_map_origin(V)
    weights = np.random.default_rng(seed).uniform(0.5, 2, size=len(V))
    centers = points[:3]
    last = inertia_of(points, weights, centers)
    for clusters in lloyd(points, weights, centers, 20, 0.0):
        assert_allclose(
            poincare.distance(clusters.centers, naive_step(points, weights, centers)),
            0,
            atol=1e-6,
        )
        centers = clusters.centers
        assert_allclose(clusters.inertia, inertia_of(points, weights, centers))
        assert clusters.inertia <= last * (1 + 1e-12)
        last = clusters.inertia
    assert clusters.converged


def test_the_best_partition_is_found():
    V, _ = branches(n=9, d=2)
    points = poincare.exp_map_origin(V)
    least = np.inf
    for labels in itertools.product(range(2), repeat=8):
        labels = np.array([0, *labels])
        groups = [points[labels == k] for k in range(2)]
        if all(len(group) for group in groups):
            means = [poincare.frechet_mean(group) for group in groups]
            total = sum(
                np.sum(poincare.distance(group, mean) ** 2)
                for group, mean in zip(groups, means, strict=True)
            )
            least = min(least, total)
    model = PoincareKMeans(2, n_init=5, tol=0, random_state=0).fit(V)
    assert_allclose(model.inertia_, least, rtol=1e-9)


def test_first_centers_are_drawn_by_squared_distance():
    points = poincare.exp_map_origin([[0.0], [1.0], [3.0]])
    weights = np.array([1.0, 2.0, 1.0])
    random_state = np.random.RandomState(0)
    drawn = [spread_out(points, weights, 1, random_state)[0, 0] for _ in range(4000)]
    share = np.mean(np.isclose(drawn, points[1, 0]))
    assert_allclose(share, 0.5, atol=0.03)
    found = spread_out(points, weights, 3, random_state)
    assert_allclose(np.sort(found[:, 0]), points[:, 0])


def test_next_centers_are_drawn_by_weight_and_squared_distance(monkeypatch):
    points = poincare.exp_map_origin(branches()[0])
    weights = np.arange(1.0, 31)
    asked = []

    def draw(shares, uniform):
        asked.append(shares)
        return np.array([4, 9])[: len(uniform)]

    monkeypatch.setattr(_lloyd, "_draw", draw)
    spread_out(points, weights, 2, np.random.RandomState(0))
    squares = poincare.distance(points, points[4]) ** 2
    assert_array_equal(asked[0], weights)
    assert_allclose(asked[1], weights * squares, atol=1e-12)


def test_a_center_without_points_moves_to_the_farthest():
    points = poincare.exp_map_origin([[0.0, 0.0], [0.1, 0.0], [5.0, 0.0], [5.0, 0.3]])
    centers = points[[0, 0, 1]]
    *_, last = lloyd(points, np.ones(4), centers, 30, 0.0)
    assert_allclose(last.inertia, min(_three_of_four(points)), rtol=1e-9)
    assert len(np.unique(last.centers, axis=0)) == 3


def _three_of_four(points):
    """Inertia when two of the points share a center."""
    gaps = poincare.pairwise_distances(points)[np.triu_indices(len(points), 1)]
    return gaps**2 / 2


def test_more_starts_are_never_worse():
    rng = np.random.default_rng(0)
    points, weights = poincare.exp_map_origin(rng.normal(size=(60, 2))), np.ones(60)
    inertias = []
    for n_init in (1, 3, 6):
        steps = search(
            points,
            weights,
            6,
            n_init=n_init,
            max_iter=50,
            tol=0.0,
            random_state=np.random.RandomState(3),
        )
        found = list(steps)
        best = [clusters.inertia for clusters, _ in found]
        assert [last for _, last in found] == [False] * (len(found) - 1) + [True]
        inertias.append(best[-1])
    assert inertias[0] >= inertias[1] >= inertias[2]


def test_distinct_points_add_up_their_weights():
    points = np.array([[0.5, 0.0], [0.1, 0.0], [0.5, 0.0], [0.2, 0.0]])
    found, weights = distinct_points(points, np.array([1.0, 2.0, 3.0, 0.0]))
    assert_array_equal(found, [[0.1, 0.0], [0.5, 0.0]])
    assert_array_equal(weights, [2, 4])


# --- the estimator ---------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tangent", "ball"])
def test_branches_are_found(kind):
    y = np.arange(90) % 5
    V = 6 * np.eye(5)[y] + 0.4 * np.random.default_rng(0).normal(size=(90, 5))
    X = V if kind == "tangent" else poincare.exp_map_origin(V)
    model = PoincareKMeans(5, input=kind, n_init=3, random_state=0)
    labels = model.fit_predict(X)
    assert adjusted_rand_score(labels, y) > 0.95
    assert_array_equal(labels, model.predict(X))
    assert_array_equal(labels, np.argmin(model.transform(X), axis=1))
    assert_allclose(model.inertia_, np.sum(model.transform(X).min(axis=1) ** 2))
    points = poincare.exp_map_origin(V)
    centers = model.cluster_centers_
    centers = poincare.exp_map_origin(centers) if kind == "tangent" else centers
    assert_allclose(model.transform(X), poincare.distance(points[:, None], centers))


def test_near_the_origin_it_is_k_means():
    V, _ = branches(n=80, n_classes=4, radius=1e-6)
    model = PoincareKMeans(4, n_init=4, tol=0, random_state=0).fit(V)
    plain = KMeans(4, n_init=4, tol=0, random_state=0).fit(1e6 * V)
    assert adjusted_rand_score(model.labels_, plain.labels_) == 1
    # Hyperbolic lengths are the lengths of tangent vectors.
    assert_allclose(model.inertia_, 1e-12 * plain.inertia_, rtol=1e-9)


@given(seed=seeds)
@settings(max_examples=15)
def test_order_and_repetition_change_nothing(seed):
    V, _ = branches(seed)
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, size=len(V))
    weights[:5] = 1
    rows = rng.permutation(np.repeat(np.arange(len(V)), weights))
    one = PoincareKMeans(4, random_state=0).fit(V, sample_weight=weights)
    other = PoincareKMeans(4, random_state=0).fit(V[rows])
    assert_array_equal(one.cluster_centers_, other.cluster_centers_)
    assert_array_equal(one.labels_[rows], other.labels_)
    assert_allclose(one.inertia_, other.inertia_)


def test_seeds_repeat_and_the_callbacks_see_each_step(monkeypatch):
    V, _ = branches(n=60, radius=4.0)
    seen = []

    class Steps(_kmeans.FitSteps):
        def __iter__(self):
            for step in super().__iter__():
                yield step
                seen.append(self.state())

    monkeypatch.setattr(_kmeans, "FitSteps", Steps)
    one, other = (PoincareKMeans(7, random_state=5).fit(V) for _ in range(2))
    assert_array_equal(one.cluster_centers_, other.cluster_centers_)
    assert len(seen) == 2 * one.n_iter_
    inertias = [state["inertia_"] for state in seen[: one.n_iter_]]
    assert np.all(np.diff(inertias) <= 1e-9)
    assert inertias[-1] == one.inertia_
    assert seen[-1].keys() <= vars(one).keys()


def test_a_callback_may_end_the_fit(monkeypatch):
    V, _ = branches(n=60, radius=4.0)

    class Steps(_kmeans.FitSteps):
        def __iter__(self):
            self.stop()
            yield from super().__iter__()

    monkeypatch.setattr(_kmeans, "FitSteps", Steps)
    assert PoincareKMeans(7, tol=0, random_state=5).fit(V).n_iter_ == 1


def test_too_few_steps_are_told():
    V = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.warns(ConvergenceWarning, match=r"Pass max_iter=2, or a larger tol"):
        model = PoincareKMeans(9, max_iter=1, random_state=0).fit(V)
    assert model.n_iter_ == 1
    assert PoincareKMeans(9, max_iter=1, tol=10.0, random_state=0).fit(V).n_iter_ == 1


def test_fewer_points_than_clusters():
    V = np.repeat([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], 4, axis=0)
    with pytest.warns(FewerColumnsWarning, match="Pass n_clusters=3 or fewer"):
        model = PoincareKMeans(5, random_state=0).fit(V)
    assert model.cluster_centers_.shape == (3, 2)
    assert_allclose(model.inertia_, 0, atol=1e-12)
    assert len(np.unique(model.labels_)) == 3
    one = PoincareKMeans(1).fit(V)
    mean = poincare.frechet_mean(poincare.exp_map_origin(V))
    assert_allclose(one.cluster_centers_[0], poincare.log_map_origin(mean))


def test_types_stay_and_rows_outside_are_refused():
    V, _ = branches()
    model = PoincareKMeans(3, random_state=0).fit(V.astype(np.float32))
    assert model.cluster_centers_.dtype == np.float32
    assert model.transform(V.astype(np.float32)).dtype == np.float32
    assert model.labels_.dtype.kind == "i"
    X = poincare.exp_map_origin(V)
    X[11] = [2.0, 0.0, 0.0]
    with pytest.raises(
        ValueError, match=r"row 11, of norm 2\. Pass skrep\.geometry\.poincare\.project"
    ):
        PoincareKMeans(3, input="ball").fit(X)
    fitted = PoincareKMeans(3, input="ball").fit(X[:10])
    with pytest.raises(ValueError, match=r"PoincareKMeans: .* row 11"):
        fitted.predict(X)


def test_points_at_the_rim_stay_inside():
    rng = np.random.default_rng(0)
    X = poincare.exp_map_origin(30 * rng.normal(size=(40, 3)).astype(np.float32))
    model = PoincareKMeans(4, input="ball", random_state=0).fit(X)
    assert np.all(np.linalg.norm(model.cluster_centers_.astype(float), axis=1) < 1)
    assert np.isfinite(model.transform(X)).all()


def test_a_pickle_holds_centers_and_labels_alone():
    sizes = []
    for n in (500, 2000):
        V, _ = branches(n=n, d=20)
        sizes.append(len(pickle.dumps(PoincareKMeans(3, random_state=0).fit(V))))
    assert sizes[1] - sizes[0] <= 1500 * 8 + 100


@pytest.mark.parametrize("kind", ["tangent", "ball"])
def test_claims_hold_and_others_do_not(kind):
    V, _ = branches()
    X = V if kind == "tangent" else V / 12
    model = PoincareKMeans(3, input=kind, random_state=0)
    for claim in model.invariances():
        report = check_invariance(model, claim, X)
        assert report.holds, report
    for claim in unclaimed(model):
        if claim.group == "translation" or (
            kind == "tangent" and claim.group != "label_permutation"
        ):
            report = check_invariance(model, claim, X / 10, n_draws=8)
            assert not report.holds, report


def test_the_best_start_wins_by_whatever_it_is_better():
    rng = np.random.default_rng(0)
    points = poincare.exp_map_origin(rng.standard_normal((60, 2)))
    weights = np.ones(60)
    state, single = np.random.RandomState(3), []
    for _ in range(8):
        centers = spread_out(points, weights, 6, state)
        single.append(list(lloyd(points, weights, centers, 100, 0.0))[-1].inertia)
    assert single[0] > min(single) * 1.001
    options = {"n_init": 8, "max_iter": 100, "tol": 0.0}
    found = search(points, weights, 6, random_state=np.random.RandomState(3), **options)
    assert_allclose(list(found)[-1][0].inertia, min(single), rtol=1e-6)
