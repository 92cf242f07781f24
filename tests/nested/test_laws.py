"""Laws of nested projections, over shapes, data and objectives."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from skrep.nested import NestedProjection, PrefixRotation
from tests.strategies import seeds

OBJECTIVES = (
    "variance",
    "classes",
    "neighbors",
    "pairs",
    "mined",
    "cca",
    {"classes": 0.3, "pairs": 1},
    {"neighbors": 1, "variance": 0.5},
)
objectives = st.sampled_from(OBJECTIVES)


@st.composite
def tables(draw, objectives=objectives):
    """A model, rows of any shape, and the other side."""
    rng = np.random.default_rng(draw(seeds))
    n, d = draw(st.integers(6, 40)), draw(st.integers(1, 8))
    scale = draw(st.sampled_from([1e-3, 1.0, 1e3]))
    X = scale * (rng.standard_normal((n, d)) * np.arange(1, d + 1) + 2)
    sides = {
        "y": np.arange(n) % draw(st.integers(1, 4)),
        "pairs": X + 0.3 * scale * rng.standard_normal((n, d)),
        "queries": X[::2] + 0.3 * scale * rng.standard_normal((len(X[::2]), d)),
    }
    return NestedProjection(objective=draw(objectives), n_neighbors=3), X, sides, rng


def fit(model, X, sides, **params):
    return NestedProjection(**{**model.get_params(), **params}).fit(X, **sides)


@given(tables(), st.data())
def test_a_prefix_is_the_fit_of_that_length(table, data):
    model, X, sides, _ = table
    whole = fit(model, X, sides)
    k = data.draw(st.integers(1, len(whole.components_)))
    shorter = fit(model, X, sides, n_components=k)
    np.testing.assert_array_equal(whole.prefix(k).components_, shorter.components_)
    np.testing.assert_array_equal(whole.prefix(k).transform(X), shorter.transform(X))


@given(tables())
def test_orthogonal_maps_turn_the_basis_and_leave_the_outputs(table):
    model, X, sides, rng = table
    d = X.shape[1]
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    one = fit(model, X, sides)
    turned = {**sides, **{name: sides[name] @ Q for name in ("pairs", "queries")}}
    other = fit(model, X @ Q, turned)
    Z, W = one.transform(X), other.transform(X @ Q)
    gaps = np.diff(one.objective_values_)
    assume((np.abs(gaps) > 1e-4 * one.objective_values_[0]).all())
    # Near ties between nearest rows may fall to either side of rounding.
    assume(model.objective in ("variance", "classes", "pairs", "cca"))
    signs = np.sign(np.sum(Z * W, axis=0))
    np.testing.assert_allclose(W * signs, Z, atol=1e-5 * np.abs(Z).max())
    spans = one.components_ @ Q
    np.testing.assert_allclose(
        other.components_ * signs[:, None], spans, atol=1e-5 * np.abs(spans).max()
    )


@given(tables())
def test_values_do_not_rise_within_a_stage(table):
    model, X, sides, _ = table
    nested = fit(model, X, sides)
    values = nested.objective_values_
    stages = [values]
    if model.objective == "classes":
        n_axes = min(len(np.unique(sides["y"])) - 1, X.shape[1])
        stages = np.split(values, [n_axes])
    for stage in stages:
        assert (np.diff(stage) <= 1e-12 * np.abs(values).max()).all()


@given(tables(st.just("variance")), st.data())
def test_rotations_are_isometries(table, data):
    _, X, sides, rng = table
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    levels = np.column_stack([sides["y"], rng.integers(0, 3, len(X))])
    rotation = PrefixRotation().fit(X.astype(dtype), levels)
    assert rotation.full_length_drift_ < (1e-6 if dtype == np.float32 else 1e-12)
    Z = rotation.transform(X.astype(dtype))
    tolerance = 1e2 * np.finfo(dtype).eps * (X @ X.T).max()
    np.testing.assert_allclose(Z @ Z.T, X @ X.T, atol=tolerance)


@given(tables())
def test_column_scaling_changes_the_outputs(table):
    model, X, sides, _ = table
    assume(X.shape[1] > 2)
    factors = 10.0 ** np.arange(X.shape[1])
    one, other = fit(model, X, sides), fit(model, X * factors, sides)
    Z, W = np.abs(one.transform(X)), np.abs(other.transform(X * factors))
    assert not np.allclose(Z, W, rtol=1e-3)


@given(tables(), st.data())
def test_the_inverse_projects(table, data):
    model, X, sides, _ = table
    nested = fit(model, X, sides)
    k = data.draw(st.integers(1, len(nested.components_)))
    cut = nested.prefix(k)
    once = cut.inverse_transform(cut.transform(X))
    twice = cut.inverse_transform(cut.transform(once))
    np.testing.assert_allclose(twice, once, atol=1e-6 * np.abs(X).max())
    if k == X.shape[1] == np.linalg.matrix_rank(nested.components_):
        np.testing.assert_allclose(once, X, atol=1e-6 * np.abs(X).max())
