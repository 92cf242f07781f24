"""The nearest centroid of the ball: naive loops, small radii, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import DataConversionWarning
from sklearn.neighbors import NearestCentroid

from skrep.exceptions import ThinDataWarning
from skrep.geometry import poincare
from skrep.hyperbolic import PoincareNearestCentroid
from skrep.invariance import check_invariance, unclaimed
from tests.strategies import seeds


def branches(seed=0, n=30, d=3, n_classes=3, radius=3.0):
    """Tangent vectors of a few directions, and their classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    ways = rng.normal(size=(n_classes, d))
    ways *= radius / np.linalg.norm(ways, axis=1, keepdims=True)
    return ways[y] + 0.2 * radius * rng.normal(size=(n, d)), y


@given(
    seed=seeds,
    n_classes=st.integers(2, 4),
    radius=st.sampled_from([0.1, 3.0, 8.0]),
    kind=st.sampled_from(["tangent", "ball"]),
)
@settings(max_examples=30)
def test_each_class_has_its_mean_and_a_row_the_nearest(seed, n_classes, radius, kind):
    V, y = branches(seed, n_classes=n_classes, radius=radius)
    points = poincare.exp_map_origin(V)
    X = V if kind == "tangent" else points
    model = PoincareNearestCentroid(input=kind).fit(X, y)
    means = [poincare.frechet_mean(points[y == c]) for c in range(n_classes)]
    found = model.centroids_
    if kind == "tangent":
        found = poincare.exp_map_origin(found)
    assert_allclose(poincare.distance(found, np.array(means)), 0, atol=1e-7)
    distances = [[poincare.distance(x, mean) for mean in means] for x in points]
    assert_allclose(model.transform(X), distances, rtol=1e-7)
    assert_array_equal(model.predict(X), np.argmin(distances, axis=1))
    scores = model.decision_function(X)
    if n_classes == 2:
        assert_array_equal(model.predict(X), (scores > 0).astype(int))
    else:
        assert_array_equal(scores, -model.transform(X))


def test_near_the_origin_it_is_the_euclidean_one():
    V, y = branches(n=60, radius=1e-6)
    model, plain = PoincareNearestCentroid().fit(V, y), NearestCentroid().fit(V, y)
    assert_allclose(model.centroids_, plain.centroids_, rtol=1e-9)
    others = branches(1, n=60, radius=1e-6)[0]
    assert_array_equal(model.predict(others), plain.predict(others))


def test_far_out_the_euclidean_one_is_wrong():
    # Three leaves of one branch and a stray row near the origin on the other side.
    leaf = np.array([[9.0, 0.0], [9.0, 0.1], [9.0, -0.1]])
    other = np.array([[-1.0, 0.0], [-1.0, 0.2], [-1.2, 0.0]])
    X, y = np.vstack([leaf, other]), np.repeat([0, 1], 3)
    new = np.array([[4.0, 4.0]])
    assert NearestCentroid().fit(X, y).predict(new) == [0]
    assert PoincareNearestCentroid().fit(X, y).predict(new) == [1]


@given(seed=seeds)
@settings(max_examples=20)
def test_weights_are_repetitions(seed):
    V, y = branches(seed)
    weights = np.random.default_rng(seed).integers(0, 3, size=len(V))
    weights[:6] = 2
    one = PoincareNearestCentroid().fit(V, y, weights)
    other = PoincareNearestCentroid().fit(
        np.repeat(V, weights, axis=0), np.repeat(y, weights)
    )
    assert_allclose(one.transform(V), other.transform(V), rtol=1e-9)


def test_a_class_of_weight_zero_is_absent():
    V, y = branches()
    model = PoincareNearestCentroid().fit(V, y, (y != 1).astype(float))
    assert_array_equal(model.classes_, [0, 2])
    assert model.centroids_.shape == (2, 3)
    with pytest.raises(ValueError, match="Pass rows of at least two"):
        PoincareNearestCentroid().fit(V, y, (y == 1).astype(float))


def test_labels_names_and_types():
    V, y = branches()
    labels = np.array(["bird", "fish", "ant"])[y]
    frame = pd.DataFrame(V.astype(np.float32), columns=["a", "b", "c"])
    model = PoincareNearestCentroid().fit(frame, labels)
    assert_array_equal(model.classes_, ["ant", "bird", "fish"])
    assert model.score(frame, labels) == 1
    assert model.centroids_.dtype == model.transform(frame).dtype == np.float32
    names = model.get_feature_names_out()
    assert_array_equal(names, [f"poincarenearestcentroid{i}" for i in range(3)])
    with pytest.warns(DataConversionWarning):
        PoincareNearestCentroid().fit(V, y[:, None])


def test_what_it_refuses():
    V, y = branches()
    model = PoincareNearestCentroid(input="ball")
    with pytest.raises(ValueError, match=r"row 0, of norm .* or input=\"tangent\""):
        model.fit(V, y)
    model.fit(V / 100, y)
    far = V / 100
    far[7] = [0, 0.6, 0.8]
    with pytest.raises(
        ValueError, match=r"PoincareNearestCentroid: .*: row 7, of norm"
    ):
        model.predict(far)
    with pytest.raises(ValueError, match=r"one class, 0, .* Pass rows of at least two"):
        PoincareNearestCentroid().fit(V, np.zeros(30, int))
    with pytest.raises(ValueError, match="Pass labels"):
        PoincareNearestCentroid().fit(V, y / 2)
    with pytest.raises(ValueError, match="'input' parameter"):
        PoincareNearestCentroid(input="lorentz").fit(V, y)


def test_rows_beyond_the_radius_are_pulled_in_with_a_warning():
    V, y = branches()
    V[4] *= 100
    with pytest.warns(ThinDataWarning, match="1 of 30 rows .* Divide all rows"):
        model = PoincareNearestCentroid().fit(V, y)
    with pytest.warns(ThinDataWarning, match="1 of 30 rows"):
        assert np.isfinite(model.transform(V)).all()


@pytest.mark.parametrize("kind", ["tangent", "ball"])
def test_claims_hold_and_others_do_not(kind):
    V, y = branches()
    X = V if kind == "tangent" else V / 12
    model = PoincareNearestCentroid(input=kind)
    for claim in model.invariances():
        report = check_invariance(model, claim, X, y)
        assert report.holds, report
    for claim in unclaimed(model):
        if kind == "tangent" or claim.group in ("translation", "label_permutation"):
            report = check_invariance(model, claim, X / 10, y, n_draws=8)
            assert not report.holds, report
