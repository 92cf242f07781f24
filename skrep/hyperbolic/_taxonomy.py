"""A taxonomy and its points: four ways to make them, and to place one leaf more."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags

from skrep.exceptions import FewerColumnsWarning
from skrep.geometry import poincare
from skrep.graph import (
    primary_parents,
    rooted_order,
    tree_distances,
    undirected_edges,
)
from skrep.graph._edge_forms import Argument
from skrep.graph._edges import read_relations
from skrep.graph._square import square_csr
from skrep.hyperbolic._coordinates import check_dimension
from skrep.hyperbolic._layout import (
    Sectors,
    node_depths,
    place_in_layout,
    tree_layout,
)
from skrep.hyperbolic._mds import HyperbolicMDS
from skrep.hyperbolic._poincare import PoincareEmbedding
from skrep.hyperbolic._sarkar import place_leaf
from skrep.hyperbolic._tree import TreeEmbedding
from skrep.typing import AnyArray, FloatArray, IntArray
from skrep.utils import warn
from skrep.utils.labels import label_array, sorted_labels

__all__ = [
    "METHODS",
    "Taxonomy",
    "fit_points",
    "make_estimator",
    "place_under",
    "read_taxonomy",
    "star",
]

METHODS: Final = ("layout", "mds", "poincare", "tree")

EDGE_LENGTH: Final = 1.5
"""Hyperbolic length of an edge of "tree": more would push kin apart at the rim."""
MDS_SCALE: Final = 0.5
"""Hyperbolic length of an edge of "mds"."""
REACH: Final = 30.0
"""Distances up to which float64 keeps some digits: deep trees have shorter edges."""

ROUNDING: Final = 1e-12


class Taxonomy(NamedTuple):
    """A tree of labels.

    Parameters
    ----------
    labels : ndarray of shape (n_labels,)
        The label of each node; a node above several roots, the last one, has none.
    relations : csr_array of shape (n_nodes, n_nodes)
        Each node's relations to all its ancestors.
    parents : ndarray of shape (n_nodes,)
        One parent of each node, -1 for the root.
    """

    labels: AnyArray
    relations: sp.csr_array
    parents: IntArray


def read_taxonomy(who: str, edges: Any) -> Taxonomy:
    """Read a taxonomy from edges.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    edges : sequence, ndarray, frame, series, mapping or networkx graph
        As in `skrep.graph.relations_from_edges`.

    Returns
    -------
    Taxonomy
        Of one root: several are joined by a node above them.

    Raises
    ------
    ValueError, TypeError
        As `skrep.graph.relations_from_edges` does.
    """
    matrix, labels = read_relations(edges, Argument(who, "taxonomy"), closure=True)
    return _joined(labels, matrix)


def star(who: str, labels: Iterable[Any]) -> Taxonomy:
    """Put labels under one root.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    labels : iterable of hashable
        Labels, in any number.

    Returns
    -------
    Taxonomy
        The distinct labels, sorted.

    Raises
    ------
    ValueError
        If there are none.
    """
    held = label_array(sorted_labels(labels))
    if not len(held):
        raise ValueError(
            f"{who}: 'X' contains no category, all are NaN or None. Pass rows with "
            "categories, or a taxonomy."
        )
    return _joined(held, sp.csr_array((len(held), len(held))))


def _joined(labels: AnyArray, relations: sp.csr_array) -> Taxonomy:
    parents = primary_parents(relations)
    roots = parents < 0
    n_labels = len(labels)
    if roots.sum() == 1 and n_labels > 1:
        return Taxonomy(labels, relations, parents)
    pairs = relations.tocoo()
    rows = np.hstack([pairs.row, np.arange(n_labels)])
    columns = np.hstack([pairs.col, np.full(n_labels, n_labels)])
    relations = square_csr(rows, columns, np.ones(len(rows)), n_labels + 1)
    return Taxonomy(
        labels, relations, np.append(np.where(roots, n_labels, parents), -1)
    )


def make_estimator(
    who: str, method: Any, n_components: Any, random_state: Any, tree: Taxonomy
) -> Any:
    """Make the estimator that a method stands for.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    method : str or estimator
        One of `METHODS`, or an estimator that takes a square matrix.
    n_components : int
        Dimension, for a string.
    random_state : int, RandomState or None
        Randomness, for a string.
    tree : Taxonomy
        What it is to be fitted on.

    Returns
    -------
    estimator or None
        An estimator to fit; None for the layout, which needs none.

    Raises
    ------
    ValueError
        If an estimator takes no square matrix, has an affinity and no transform, or
        places points of Euclidean space; or if the dimension is no integer from 1.
    """
    if isinstance(method, str):
        n_components = check_dimension(who, n_components)
        depth = int(node_depths(tree.parents).max())
        if method == "layout":
            return None
        if method == "tree":
            tau = min(EDGE_LENGTH, REACH / depth)
            root = int(np.argmin(tree.parents))
            return TreeEmbedding(n_components, tau=tau, root=root)
        if method == "mds":
            # No two nodes are farther apart than both are from the root.
            scale = min(MDS_SCALE, REACH / (2 * depth))
            return HyperbolicMDS(n_components, metric="precomputed", scale=scale)
        # In the plane a point that starts on the wrong side cannot pass the others.
        return PoincareEmbedding(
            n_components,
            affinity="precomputed",
            init="tree" if n_components == 2 else "random",
            random_state=random_state,
        )
    if not get_tags(method).input_tags.pairwise:
        raise ValueError(
            f"{who}: 'method' is {_line(method)}, which does not take a square matrix "
            "of the nodes. Pass PoincareEmbedding(affinity='precomputed'), "
            "HyperbolicMDS(metric='precomputed') or TreeEmbedding()."
        )
    estimator = clone(method)
    _refuse_unfit(who, estimator)
    if "coordinates" in estimator.get_params(deep=False):
        estimator.set_params(coordinates="ball")
    return estimator


def _line(estimator: Any) -> str:
    return " ".join(repr(estimator).split())


def _refuse_unfit(who: str, estimator: Any) -> None:
    """Refuse estimators that could place no leaf, or whose points are no ball's."""
    params = estimator.get_params(deep=False)
    if "affinity" in params and not hasattr(estimator, "transform"):
        raise ValueError(
            f"{who}: 'method' is {_line(estimator)}, which has no transform to place "
            "further leaves with. Pass PoincareEmbedding(affinity='precomputed'), say."
        )
    if params.get("model") == "euclidean":
        raise ValueError(
            f"{who}: 'method' is {_line(estimator)}, whose points are not those of the "
            "ball. Pass it with model='poincare'."
        )


def _takes(estimator: Any) -> str:
    """What an estimator is fitted on: relations, distances or edges."""
    if "affinity" in estimator.get_params(deep=False):
        return "relations"
    return "distances" if hasattr(estimator, "transform") else "edges"


def fit_points(who: str, tree: Taxonomy, estimator: Any) -> FloatArray:
    """Give every node a point, and fit the estimator that does.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    tree : Taxonomy
        The nodes.
    estimator : estimator or None
        From `make_estimator`; it is fitted. None for the layout.

    Returns
    -------
    ndarray of shape (n_nodes, n_components), float64
        Points of the ball.

    Raises
    ------
    ValueError
        If a point is outside the ball.
    """
    if estimator is None:
        return _on_disk(*tree_layout(tree.parents))
    takes = _takes(estimator)
    if takes == "relations":
        estimator.fit(tree.relations)
    elif takes == "distances":
        estimator.fit(_distances_from(tree.parents, np.arange(len(tree.parents))))
    else:
        estimator.fit(_edges(tree.parents))
    points = np.asarray(estimator.embedding_, dtype=np.float64)
    used = np.abs(points).max(axis=0) > ROUNDING
    if not used.all():
        warn(
            f"{who}: {np.sum(~used)} of the {len(used)} columns are 0 for all nodes: "
            "no node has enough children to need them. Pass "
            f"n_components={max(1, used.sum())}.",
            FewerColumnsWarning,
        )
    if (np.einsum("ij,ij->i", points, points) >= 1).any():
        raise ValueError(
            f"{who}: 'method' is {_line(estimator)}, whose points do not all lie in "
            "the ball. Pass an estimator of hyperbolic points, such as TreeEmbedding()."
        )
    return points


def place_under(
    parents: IntArray, estimator: Any, nodes: IntArray, sectors: Sectors | None
) -> FloatArray:
    """Place a further leaf under each of several nodes, by the method's own way.

    Parameters
    ----------
    parents : ndarray of shape (n_nodes,)
        Those of the taxonomy.
    estimator : estimator or None
        What `fit_points` has fitted.
    nodes : ndarray of shape (n_leaves,)
        The nodes. Each leaf is placed as if it were the only one.
    sectors : Sectors or None
        Those of `layout_sectors` for the layout.

    Returns
    -------
    ndarray of shape (n_leaves, n_components), float64
        Points of the ball.
    """
    if sectors is not None:
        return _on_disk(*place_in_layout(sectors, parents, nodes))
    takes = _takes(estimator)
    if takes == "relations":
        own = sp.csr_array(
            (np.ones(len(nodes)), (np.arange(len(nodes)), nodes)),
            shape=(len(nodes), len(parents)),
        )
        points = _outward(parents, estimator, estimator.transform(own))
    elif takes == "distances":
        points = estimator.transform(_distances_from(parents, nodes) + 1)
    else:
        points = place_leaf(estimator._placement, nodes, np.ones(len(nodes)))
    return np.asarray(points, dtype=np.float64)


def _outward(parents: IntArray, estimator: Any, points: FloatArray) -> FloatArray:
    """Move points away from the origin as far as children are beyond their parents.

    A node that is related to its parent alone is placed upon it.
    """
    radius, _ = poincare.to_polar(np.asarray(estimator.embedding_, dtype=np.float64))
    below = parents >= 0
    gap = float(np.mean(radius[below] - radius[parents[below]]))
    placed, direction = poincare.to_polar(np.asarray(points, dtype=np.float64))
    return poincare.from_polar(placed + max(gap, 0.0), direction)


def _on_disk(rho: FloatArray, theta: FloatArray) -> FloatArray:
    return poincare.from_polar(rho, np.stack([np.cos(theta), np.sin(theta)], axis=-1))


def _edges(parents: IntArray) -> sp.csr_array:
    below = np.flatnonzero(parents >= 0)
    return square_csr(below, parents[below], np.ones(len(below)), len(parents))


def _distances_from(parents: IntArray, nodes: IntArray) -> FloatArray:
    """Numbers of edges between some nodes and all."""
    roots = np.flatnonzero(parents < 0)
    tree = rooted_order(undirected_edges(_edges(parents)), roots)
    return tree_distances(tree, nodes)
