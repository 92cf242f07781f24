"""Where the points of an embedding start."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from skrep.geometry import poincare
from skrep.graph import primary_parents
from skrep.hyperbolic._layout import tree_layout
from skrep.typing import FloatArray, IntArray
from skrep.utils import warn

__all__ = ["first_points", "random_start"]

# Half the width of the cube that random starts are drawn from.
_WIDTH = 1e-3


def random_start(
    rng: np.random.Generator, n_nodes: int, n_components: int
) -> FloatArray:
    """Draw points near the origin.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the draws.
    n_nodes, n_components : int
        The shape.

    Returns
    -------
    ndarray of shape (n_nodes, n_components), float64
        Points of the cube of width 0.002 around the origin.
    """
    return rng.uniform(-_WIDTH, _WIDTH, size=(n_nodes, n_components))


def first_points(
    who: str,
    init: Any,
    relations: sp.csr_array,
    n_components: int,
    rng: np.random.Generator,
    *,
    model: str,
    radius_cap: float,
    node: IntArray | None = None,
) -> FloatArray | None:
    """Give the points that a start other than the random one consists of.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    init : {"random", "tree"} or array-like of shape (n_nodes, n_components)
        The start.
    relations : csr_array of shape (n_nodes, n_nodes)
        Row i is related to the columns of its stored values.
    n_components : int
        Number of columns.
    rng : numpy.random.Generator
        Source of the columns after the second of a tree.
    model : {"poincare", "euclidean"}
        The geometry.
    radius_cap : float
        Points of the ball that would lie farther out are brought back to there.
    node : ndarray of shape (n_samples,), int, or None, default=None
        The node of each row that was fitted on, where rows repeat. Given points may
        then be one for each row; the first of each node counts.

    Returns
    -------
    ndarray of shape (n_nodes, n_components), float64, or None
        The points; None for the random start, and, with a warning, for a tree if the
        relations run in circles.

    Raises
    ------
    ValueError
        If a tree has fewer than two columns; if given points have another shape, or
        one of them is not strictly inside the ball.

    Warns
    -----
    UserWarning
        If the relations run in circles, or all given points are equal.
    """
    if not isinstance(init, str):
        shape = relations.shape[0], n_components
        return _given_start(
            who, init, shape, model=model, radius_cap=radius_cap, node=node
        )
    if init == "tree":
        return _tree_start(
            who, relations, n_components, rng, model=model, radius_cap=radius_cap
        )
    return None


def _tree_start(
    who: str,
    relations: sp.csr_array,
    n_components: int,
    rng: np.random.Generator,
    *,
    model: str,
    radius_cap: float,
) -> FloatArray | None:
    """Lay out the tree of the primary parents in the first two columns.

    Euclidean points are as far out as those of the ball are.
    """
    if n_components < 2:
        raise ValueError(
            f"{who}: 'init' is 'tree' and n_components is {n_components}. A tree is "
            "laid out in two columns. Pass n_components=2, or init='random'."
        )
    try:
        rho, theta = tree_layout(primary_parents(relations))
    except ValueError:
        warn(
            f"{who}: 'init' is 'tree', but the relations run in circles, and the start "
            "is random. Pass init='random', or relations of children to parents alone.",
            UserWarning,
        )
        return None
    points = random_start(rng, relations.shape[0], n_components)
    if model == "poincare":
        rho = np.tanh(np.minimum(rho, radius_cap) / 2)
    points[:, 0], points[:, 1] = rho * np.cos(theta), rho * np.sin(theta)
    return points


def _given_start(
    who: str,
    init: Any,
    shape: tuple[int, int],
    *,
    model: str,
    radius_cap: float,
    node: IntArray | None,
) -> FloatArray:
    """Validate points to start from."""
    points: FloatArray = check_array(
        init, dtype=np.float64, input_name="init", estimator=who, copy=True
    )
    if node is not None and len(points) == len(node):
        points = points[np.unique(node, return_index=True)[1]]
    if points.shape != shape:
        raise ValueError(
            f"{who}: 'init' has the shape {points.shape}. It needs one point for each "
            f"node, of n_components numbers: {shape}. Pass init='random', or "
            f"n_components={points.shape[1]}."
        )
    if len(points) > 1 and (points == points[0]).all():
        warn(
            f"{who}: 'init' holds {len(points)} equal points. Points part along the "
            "lines between them, and these have none: they stay together, or part by "
            "rounding, along one line. Pass init='random', or "
            "init + np.random.default_rng(0).normal(0, 1e-3, init.shape).",
            UserWarning,
        )
    if model == "euclidean":
        return points
    outside = np.flatnonzero(np.einsum("nd,nd->n", points, points) >= 1)
    if len(outside):
        raise ValueError(
            f"{who}: 'init' has the norm {np.linalg.norm(points[outside[0]]):.6g} in "
            f"row {outside[0]}. Points of the ball have a norm below 1. Pass "
            "skrep.geometry.poincare.project(init)."
        )
    return poincare.project(points, max_radius=radius_cap)
