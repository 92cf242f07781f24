"""Points of the Poincare ball in the coordinates that a user asks for."""

from typing import Any, Final

from skrep.geometry import poincare
from skrep.typing import FloatArray
from skrep.utils.validation import is_whole

__all__ = [
    "COORDINATES",
    "check_coordinates",
    "check_dimension",
    "coordinate_names",
    "coordinate_width",
    "in_coordinates",
]

COORDINATES: Final = ("ball", "lorentz", "tangent")


def in_coordinates(
    points: FloatArray, coordinates: str, *, copy: bool = False
) -> FloatArray:
    """Express points of the ball in one of the `COORDINATES`.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_components)
        Points of the ball of curvature -1.
    coordinates : {"ball", "lorentz", "tangent"}
        The point itself; its n_components + 1 coordinates on the hyperboloid, the
        time-like one first; or the tangent vector at the origin that leads to it,
        whose length is its distance from the origin.
    copy : bool, default=False
        Whether points that keep their coordinates are copied.

    Returns
    -------
    ndarray of shape (n_points, n_components) or (n_points, n_components + 1)
        The coordinates, in the type of `points`.
    """
    if coordinates == "lorentz":
        return poincare.to_hyperboloid(points)
    if coordinates == "tangent":
        return poincare.log_map_origin(points)
    return points.copy() if copy else points


def coordinate_width(n_components: int, coordinates: str) -> int:
    """Count the columns that `in_coordinates` gives.

    Parameters
    ----------
    n_components : int
        Dimension of the ball.
    coordinates : {"ball", "lorentz", "tangent"}
        As in `in_coordinates`.

    Returns
    -------
    int
        One more than the dimension on the hyperboloid.
    """
    return n_components + (coordinates == "lorentz")


def coordinate_names(prefix: str, n_components: int, coordinates: str) -> list[str]:
    """Name the columns that `in_coordinates` gives.

    Parameters
    ----------
    prefix : str
        What the names begin with.
    n_components : int
        Dimension of the ball.
    coordinates : {"ball", "lorentz", "tangent"}
        As in `in_coordinates`.

    Returns
    -------
    list of str
        The prefix and a number from 0.
    """
    n_columns = coordinate_width(n_components, coordinates)
    return [f"{prefix}{column}" for column in range(n_columns)]


def check_dimension(who: str, n_components: Any) -> int:
    """Return a dimension, which has no upper bound.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    n_components : object
        The number asked for.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        If it is no integer, a boolean, or below 1.
    """
    if not is_whole(n_components) or n_components < 1:
        raise ValueError(
            f"{who}: 'n_components' is {n_components!r}. It must be an integer of at "
            "least 1. Pass n_components=2, say."
        )
    return int(n_components)


def check_coordinates(who: str, coordinates: str, model: str) -> None:
    """Refuse coordinates of the ball for points that are not in it.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    coordinates : {"ball", "lorentz", "tangent"}
        As in `in_coordinates`.
    model : {"poincare", "euclidean"}
        The geometry.

    Raises
    ------
    ValueError
        If the model is Euclidean and the coordinates are not those of the points.
    """
    if model == "euclidean" and coordinates != "ball":
        raise ValueError(
            f"{who}: 'coordinates' is {coordinates!r} and model is 'euclidean', whose "
            "points have no other coordinates. Pass coordinates='ball'."
        )
