"""Nodes of a graph on the Poincare disk, joined by geodesics."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from skrep.geometry import poincare
from skrep.metrics._placed import read_square
from skrep.metrics._validation import read_rows
from skrep.typing import AnyArray, FloatArray, IntArray
from skrep.utils import require
from skrep.utils.targets import check_target

__all__ = ["PoincareDiskDisplay"]

DRAWN_RADIUS = 16.0
"""Points farther out are this far on the picture: no screen tells them from the rim."""

SHARES = np.linspace(0, 1, 65)
"""Where on a geodesic its line has vertices."""

MOST_IN_LEGEND = 12
MOST_DISTINCT = 10

COLORED = 0.02, 0.98
"""Quantiles of numbers at the ends of the colors, so that no outlier sets them."""

POINTS: dict[str, Any] = {"s": 12, "linewidths": 0, "zorder": 2}
EDGES: dict[str, Any] = {"colors": "0.6", "linewidths": 0.5, "zorder": 1}


class PoincareDiskDisplay:
    """Picture of an embedding in two dimensions on the Poincare disk.

    It is recommended to use `from_estimator` or `from_points` to make one. The disk is
    the whole hyperbolic plane: its rim is infinitely far away, distances grow the more
    the nearer they are to it, and the shortest way between two points, a geodesic, is
    an arc of a circle that meets the rim at right angles. Edges are drawn as such.

    Parameters
    ----------
    points : ndarray of shape (n_nodes, 2)
        Points of the disk.
    edges : ndarray of shape (n_edges, 2), default=None
        Pairs of nodes that are joined. None: nothing is.
    response : ndarray of shape (n_nodes,), default=None
        Numbers, or the positions of the labels in `classes`. None: all points are of
        one color.
    classes : ndarray of shape (n_classes,), default=None
        Labels. None: the response is of numbers.
    response_name : str, default="Response"
        Name of the response.
    names : dict of int to str, default=None
        Texts beside some of the nodes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.
    figure_ : matplotlib Figure
        Figure that holds them.
    boundary_ : matplotlib Circle
        Rim of the disk.
    points_ : list of matplotlib PathCollection
        Points: one collection of all nodes, or one for each class.
    edges_ : matplotlib LineCollection or None
        Geodesics.
    texts_ : list of matplotlib Annotation
        Names, in the order of `names`.

    See Also
    --------
    skrep.hyperbolic.PoincareEmbedding : Gives such points, trained.
    skrep.hyperbolic.TreeEmbedding : Gives such points of a tree, constructed.
    skrep.geometry.poincare.geodesic : The arcs.

    Examples
    --------
    >>> from skrep.graph import relations_from_edges
    >>> from skrep.hyperbolic import TreeEmbedding
    >>> from skrep.inspection import PoincareDiskDisplay
    >>> edges = [("lion", "cat"), ("tiger", "cat"), ("wolf", "dog"),
    ...          ("cat", "carnivore"), ("dog", "carnivore")]
    >>> tree, names = relations_from_edges(edges, closure=False)
    >>> embedding = TreeEmbedding(2).fit(tree)
    >>> display = PoincareDiskDisplay.from_estimator(
    ...     embedding, edges=tree, names=dict(enumerate(names))
    ... )
    >>> len(display.edges_.get_segments()), display.texts_[0].get_text()
    (5, 'carnivore')
    """

    def __init__(
        self,
        *,
        points: FloatArray,
        edges: IntArray | None = None,
        response: AnyArray | None = None,
        classes: AnyArray | None = None,
        response_name: str = "Response",
        names: Mapping[int, str] | None = None,
    ) -> None:
        self.points = points
        self.edges = edges
        self.response: Any = response
        self.classes: Any = classes
        self.response_name = response_name
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        edges: Any = None,
        y: Any = None,
        names: Mapping[int, str] | None = None,
        target_type: str = "auto",
        ax: Any = None,
    ) -> Self:
        """Draw what a fitted embedding has placed.

        Parameters
        ----------
        estimator : fitted estimator
            One with `embedding_`, points of the disk, such as `PoincareEmbedding` with
            two components.
        edges : {array-like, CSR} of shape (n_nodes, n_nodes), default=None
            Two nodes are joined if the entry is not zero, in either direction. None:
            no edges are drawn.
        y : array-like of shape (n_nodes,), default=None
            Classes or numbers of the nodes, for their colors.
        names : dict of int to str, default=None
            Texts beside some of the nodes.
        target_type : {"auto", "classes", "numbers"}, default="auto"
            What y holds.
        ax : matplotlib Axes, default=None
            Axes to draw on. None: new ones.

        Returns
        -------
        PoincareDiskDisplay
            The display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If `estimator` is not fitted.
        ValueError
            If the estimator has no `embedding_`, or one of Euclidean points, or as
            `from_points` says.
        """
        who = f"{cls.__name__}.from_estimator"
        require("matplotlib.pyplot", who)
        check_is_fitted(estimator)
        if not hasattr(estimator, "embedding_"):
            raise ValueError(
                f"{who}: {type(estimator).__name__} has no embedding_ to draw. Pass "
                "an estimator that has one, such as the step of a pipeline, or points "
                "of the disk to from_points."
            )
        points = estimator.embedding_
        if getattr(estimator, "model", None) == "euclidean":
            raise ValueError(
                f"{who}: {type(estimator).__name__} was fitted with model='euclidean', "
                "whose points are not of the disk. Fit it with model='poincare', or "
                "draw them with ax.scatter(*estimator.embedding_.T)."
            )
        return cls(**_read(who, points, edges, y, names, target_type)).plot(ax)

    @classmethod
    def from_points(
        cls,
        points: Any,
        *,
        edges: Any = None,
        y: Any = None,
        names: Mapping[int, str] | None = None,
        target_type: str = "auto",
        ax: Any = None,
    ) -> Self:
        """Draw points of the disk.

        Parameters
        ----------
        points : array-like of shape (n_nodes, 2)
            Points with norms below 1.
        edges : {array-like, CSR} of shape (n_nodes, n_nodes), default=None
            Two nodes are joined if the entry is not zero, in either direction. None:
            no edges are drawn.
        y : array-like of shape (n_nodes,), default=None
            Classes or numbers of the nodes, for their colors.
        names : dict of int to str, default=None
            Texts beside some of the nodes.
        target_type : {"auto", "classes", "numbers"}, default="auto"
            What y holds.
        ax : matplotlib Axes, default=None
            Axes to draw on, such as `ax_` of another display. None: new ones.

        Returns
        -------
        PoincareDiskDisplay
            The display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the points have not two columns, an entry is not finite, a point lies
            outside of the disk, or `edges`, `y` or `names` do not fit them.
        """
        who = f"{cls.__name__}.from_points"
        require("matplotlib.pyplot", who)
        return cls(**_read(who, points, edges, y, names, target_type)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the disk.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None: new ones.

        Returns
        -------
        PoincareDiskDisplay
            This display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        who = f"{type(self).__name__}.plot"
        pyplot = require("matplotlib.pyplot", who)
        patches = require("matplotlib.patches", who)
        if ax is None:
            _, ax = pyplot.subplots()
        self.ax_, self.figure_ = ax, ax.figure
        shown = poincare.project(self.points, max_radius=DRAWN_RADIUS)
        rim = patches.Circle((0, 0), 1, fill=False, edgecolor="0.3", linewidth=0.8)
        self.boundary_ = ax.add_patch(rim)
        self._draw_edges(shown)
        self._draw_points(shown)
        self._draw_names(shown)
        ax.set_aspect("equal")
        ax.set_xlim(-1.03, 1.03)
        ax.set_ylim(-1.03, 1.03)
        ax.set_axis_off()
        return self

    def _draw_edges(self, shown: FloatArray) -> None:
        self.edges_: Any = None
        if self.edges is None:
            return
        collections = require("matplotlib.collections", type(self).__name__)
        starts, ends = (shown[self.edges[:, side], None] for side in (0, 1))
        lines = poincare.geodesic(starts, ends, SHARES)
        self.edges_ = self.ax_.add_collection(
            collections.LineCollection(lines, **EDGES), autolim=False
        )

    def _draw_points(self, shown: FloatArray) -> None:
        ax = self.ax_
        if self.response is None:
            self.points_ = [ax.scatter(*shown.T, color="C0", **POINTS)]
        elif self.classes is None:
            low, high = np.quantile(self.response, COLORED)
            colors = {"c": self.response, "vmin": low, "vmax": high}
            self.points_ = [ax.scatter(*shown.T, **colors, **POINTS)]
            self.figure_.colorbar(
                self.points_[0], ax=ax, extend="both", label=self.response_name
            )
        else:
            self.points_ = [
                ax.scatter(
                    *shown[self.response == code].T,
                    color=color,
                    label=str(label),
                    **POINTS,
                )
                for code, (label, color) in enumerate(
                    zip(self.classes, _colors(len(self.classes)), strict=True)
                )
            ]
            if len(self.classes) <= MOST_IN_LEGEND:
                ax.legend(
                    title=self.response_name,
                    loc="center left",
                    bbox_to_anchor=(1, 0.5),
                    frameon=False,
                )

    def _draw_names(self, shown: FloatArray) -> None:
        effects = require("matplotlib.patheffects", type(self).__name__)
        halo = [effects.withStroke(linewidth=2, foreground="white")]
        self.texts_ = [
            self.ax_.annotate(
                str(text),
                shown[node],
                xytext=(3, 3),
                textcoords="offset points",
                fontsize="small",
                path_effects=halo,
                zorder=3,
            )
            for node, text in (self.names or {}).items()
        ]


def _colors(n_classes: int) -> list[Any]:
    """The colors of the cycle while they last, else those of a wheel."""
    if n_classes <= MOST_DISTINCT:
        return [f"C{code}" for code in range(n_classes)]
    pyplot = require("matplotlib.pyplot", "PoincareDiskDisplay")
    return list(pyplot.get_cmap("turbo")(np.linspace(0, 1, n_classes)))


def _read(
    who: str,
    points: Any,
    edges: Any,
    y: Any,
    names: Mapping[int, str] | None,
    target_type: str,
) -> dict[str, Any]:
    """Check what is to be drawn, and give it as the display holds it."""
    rows = read_rows(points, "points", who)
    n_nodes = len(rows)
    if rows.shape[1] != 2:
        raise ValueError(
            f"{who}: 'points' has {rows.shape[1]} columns, and the disk has 2. Fit the "
            "embedding with n_components=2."
        )
    norms = np.linalg.norm(rows, axis=1)
    if norms.max() >= 1:
        raise ValueError(
            f"{who}: 'points' has norm {norms.max():g} in row {int(norms.argmax())}. "
            "Points of the disk have norms below 1. Pass "
            "skrep.geometry.poincare.exp_map_origin(points) for tangent vectors."
        )
    known = range(n_nodes)
    strange = [node for node in names or {} if node not in known]
    if strange:
        key = strange[0].item() if isinstance(strange[0], np.generic) else strange[0]
        raise ValueError(
            f"{who}: 'names' has the key {key!r}, which is no row of the "
            f"{n_nodes} points. Pass texts by row, as in names={{0: 'root'}}."
        )
    shown: dict[str, Any] = {"points": rows, "names": names}
    if edges is not None:
        _refuse_pairs(who, edges, n_nodes)
        matrix = read_square(who, "edges", edges, n_nodes)
        joined = sp.coo_array(sp.triu(matrix + matrix.T))
        shown["edges"] = np.column_stack([joined.row, joined.col])
    if y is not None:
        target = check_target(who, y, n_nodes, target_type)
        shown["response"], shown["classes"] = target.values, target.classes
        shown["response_name"] = str(getattr(y, "name", None) or "Response")
    return shown


def _refuse_pairs(who: str, edges: Any, n_nodes: int) -> None:
    """Refuse a graph, pairs of nodes, and a matrix with its labels, for a matrix."""
    remedy = "skrep.graph.relations_from_edges(edges, closure=False).matrix"
    if hasattr(edges, "matrix"):
        what, remedy = "the pair of a matrix and its labels", "edges.matrix"
    elif hasattr(edges, "is_directed") or isinstance(edges, Mapping):
        what = "a graph"
    else:
        given = edges if hasattr(edges, "shape") else np.array(edges, dtype=object)
        cells: Any = [] if sp.issparse(edges) else np.asarray(given).ravel()[:2]
        labels = any(isinstance(cell, str) for cell in cells)
        square = given.shape in ((n_nodes, n_nodes), (3, 3))
        if (square and not labels) or given.shape[1:] not in ((2,), (3,)):
            return
        what = "a list of pairs"
    raise ValueError(
        f"{who}: 'edges' is {what}, and must be a square matrix of the {n_nodes} "
        f"points. Pass {remedy}."
    )
