"""What the ball and the hyperboloid refuse, and what they answer with NaN."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skrep.geometry import hyperboloid, poincare

BALL = [
    ("distance", "xy"),
    ("pairwise_distances", "XY"),
    ("mobius_add", "xy"),
    ("exp_map", "xv"),
    ("log_map", "xy"),
    ("transport_from_origin", "xv"),
    ("geodesic", "xy"),
]
LORENTZ = [
    ("inner", "xy"),
    ("distance", "xy"),
    ("pairwise_distances", "XY"),
    ("exp_map", "xv"),
    ("log_map", "xy"),
    ("riemannian_gradient", "xg"),
]


@pytest.mark.parametrize(
    ("space", "name", "names"),
    [(poincare, *case) for case in BALL] + [(hyperboloid, *case) for case in LORENTZ],
)
def test_points_of_different_dimensions_are_refused(space, name, names):
    call = getattr(space, name)
    more = (0.5,) if name == "geodesic" else ()
    plane = np.array([[1.25, 0.75], [1.0, 0.0]]) / (2 if space is poincare else 1)
    who = rf"^{space.__name__.rpartition('.')[2]}\.{name}: '{names[0]}' has the shape"
    for other in (plane[:, :1], np.ones((2, 3)), np.ones((2, 0)), 0.5):
        with pytest.raises(ValueError, match=rf"{who}.* of shape \(\.\.\., 2\)\."):
            call(plane, other, *more)
    with pytest.raises(ValueError, match=rf"{who} \(\) .*\(\.\.\., n_components\)\."):
        call(0.1, 0.5, *more)


def test_directions_of_different_dimensions_are_refused():
    with pytest.raises(ValueError, match=r"polar_distance: 'u_x' .*Pass u_y of shape"):
        poincare.polar_distance(1.0, [0.6, 0.8], 1.0, [1.0])


SINGLE = ["conformal_factor", "log_map_origin", "to_hyperboloid", "to_polar"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "names"), [*BALL, *((name, "") for name in SINGLE)])
def test_points_outside_give_nan_with_one_warning(name, names, dtype):
    call = getattr(poincare, name)
    inner = np.full((4, 2), 0.1, dtype)
    outer = inner.copy()
    outer[1], outer[2] = [1, 0], [2, 0]
    more = (0.5,) if name == "geodesic" else ()
    sides = [(outer, *([inner] if names else []), *more)]
    if names[1:] in ("y", "Y"):
        sides.append((inner, outer, *more))
    for name_of, arguments in zip(names or "x", sides, strict=False):
        remedy = rf"'{name_of}' has 2 of 4 points .* poincare\.project\({name_of}\)\."
        with pytest.warns(
            RuntimeWarning, match=rf"^poincare\.{name}: {remedy}"
        ) as seen:
            found = call(*arguments)
        assert len(seen) == 1
        found = np.asarray(found[0] if name == "to_polar" else found)
        found = found.T if name == "pairwise_distances" and name_of == "Y" else found
        bad = np.isnan(found.reshape(4, -1)).any(axis=1)
        assert_array_equal(bad, [False, True, True, False])
        assert found.dtype == dtype


def test_one_point_outside_is_told_as_well_and_missing_ones_are_not():
    with pytest.warns(RuntimeWarning, match=r"1 of 1 points .*project\(x\)"):
        assert np.isnan(poincare.distance([2.0, 0.0], [0.1, 0.1]))
    with pytest.warns(RuntimeWarning, match=r"'X' has 2 of 3 points") as seen:
        poincare.pairwise_distances([[0.0], [1.0], [-3.0]])
    assert len(seen) == 1
    assert np.isnan(poincare.distance([np.nan, 0.0], [0.1, 0.1]))
