"""A response against the directions found, and the eigenvalues behind them."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from skrep.metrics._validation import read_rows
from skrep.typing import AnyArray, FloatArray
from skrep.utils import require
from skrep.utils.targets import check_target

__all__ = ["IndexDisplay"]

KINDS = ("response", "eigenvalues")

MAX_KNOTS, ROWS_PER_KNOT = 12, 10
"""How many quantiles of the index the smooth is a cubic between."""

PENALTIES = np.logspace(-4, 3, 8)

COLORED = 0.02, 0.98
"""Quantiles of the response at the ends of the colors, so that no outlier sets them."""

BINS = 25

POINTS: dict[str, Any] = {"s": 12, "alpha": 0.6, "linewidths": 0}


class IndexDisplay:
    """Pictures of an index model: the response, or the eigenvalues.

    It is recommended to use `from_estimator` or `from_indices` to make one. The
    response is drawn against the first direction with a smooth, whose shape is the
    link; against two directions it is the color. Classes have a color each and, for
    one direction, a histogram. The eigenvalues tell how many directions there are:
    those that stand above the dashed line, the noise edge.

    Parameters
    ----------
    indices : ndarray of shape (n_samples, n_directions), default=None
        Rows in the coordinates of the directions.
    response : ndarray of shape (n_samples,), default=None
        Numbers, or the positions of the labels in `classes`.
    classes : ndarray of shape (n_classes,), default=None
        Labels. None: the response is of numbers.
    response_name : str, default="Response"
        Name of the response.
    eigenvalues : ndarray of shape (n_eigenvalues,), default=None
        Eigenvalues in descending order.
    noise_edge : float, default=None
        What noise alone reaches. None or NaN: no line.
    n_components : int, default=None
        How many leading eigenvalues belong to the directions that were kept. None:
        all are drawn alike.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.
    figure_ : matplotlib Figure
        Figure that holds them.
    points_ : list of matplotlib PathCollection
        Points: one collection of all rows, or one for each class.
    smooth_ : matplotlib Line2D or None
        Smooth of a response of numbers along one direction; None where there is
        nothing to smooth.
    bars_ : list of matplotlib BarContainer
        Histograms, one for each class along one direction; or the eigenvalues that
        were kept, and the others.
    edge_ : matplotlib Line2D or None
        Noise edge.

    See Also
    --------
    PrefixCurveDisplay : The scores of every prefix of a transformer.
    sklearn.inspection.PartialDependenceDisplay : The response of a fitted predictor
        against single columns.

    Notes
    -----
    The smooth is a cubic regression spline [1]_ with knots at quantiles of the index
    and a ridge penalty, which leave-one-out errors choose. The colors end at two
    quantiles of the response, so that outliers do not fade the others.

    References
    ----------
    .. [1] Ruppert, D., Wand, M. P. and Carroll, R. J. (2003). "Semiparametric
       regression". Cambridge University Press.

    Examples
    --------
    >>> from sklearn.cross_decomposition import PLSRegression
    >>> from skrep.datasets import make_index_model
    >>> from skrep.inspection import IndexDisplay
    >>> X, y, _ = make_index_model(links="sine", random_state=0)
    >>> index = PLSRegression(n_components=1).fit(X, y)
    >>> display = IndexDisplay.from_estimator(index, X, y)
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('Direction 1', 'Response')
    """

    def __init__(
        self,
        *,
        indices: FloatArray | None = None,
        response: AnyArray | None = None,
        classes: AnyArray | None = None,
        response_name: str = "Response",
        eigenvalues: npt.ArrayLike | None = None,
        noise_edge: float | None = None,
        n_components: int | None = None,
    ) -> None:
        self.indices = indices
        self.response: Any = response
        self.classes: Any = classes
        self.response_name = response_name
        self.eigenvalues = eigenvalues
        self.noise_edge = noise_edge
        self.n_components = n_components

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        kind: str = "response",
        n_directions: int | None = None,
        target_type: str = "auto",
        ax: Any = None,
    ) -> Self:
        """Draw what a fitted transformer finds.

        Parameters
        ----------
        estimator : fitted transformer
            One whose first columns are its leading directions, such as
            `SteinIndex` or `PLSRegression`. Eigenvalues are read from `eigenvalues_`,
            `noise_edge_` and `n_components_`.
        X : array-like of shape (n_samples, n_features), default=None
            Rows; the eigenvalues need none.
        y : array-like of shape (n_samples,) or (n_samples, 1), default=None
            Response of the rows; the eigenvalues need none.
        kind : {"response", "eigenvalues"}, default="response"
            What to draw. Another `plot` of the display draws the other.
        n_directions : {1, 2}, default=None
            Number of directions that the response is drawn against. None: two, if
            there are two.
        target_type : {"auto", "classes", "numbers"}, default="auto"
            What y holds.
        ax : matplotlib Axes, default=None
            Axes to draw on. None: new ones.

        Returns
        -------
        IndexDisplay
            The display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If `estimator` is not fitted.
        ValueError
            If the estimator has no eigenvalues to draw, X or y is missing or
            unsuitable, or a parameter has another value than those above.
        """
        who = f"{cls.__name__}.from_estimator"
        require("matplotlib.pyplot", who)
        check_is_fitted(estimator)
        spectrum: dict[str, Any] = {
            "eigenvalues": getattr(estimator, "eigenvalues_", None),
            "noise_edge": getattr(estimator, "noise_edge_", None),
            "n_components": getattr(estimator, "n_components_", None),
        }
        rows: dict[str, Any] = {}
        if X is not None and (y is not None or kind == "response"):
            rows = _read(who, estimator.transform(X), y, target_type)
        display = cls(**rows, **spectrum)
        return display.plot(ax, kind=kind, n_directions=n_directions)

    @classmethod
    def from_indices(
        cls,
        indices: Any,
        y: Any,
        *,
        n_directions: int | None = None,
        target_type: str = "auto",
        ax: Any = None,
    ) -> Self:
        """Draw a response against directions that are computed already.

        Parameters
        ----------
        indices : array-like of shape (n_samples, n_directions)
            What `transform` gives.
        y : array-like of shape (n_samples,) or (n_samples, 1)
            Response of the rows.
        n_directions : {1, 2}, default=None
            Number of directions that the response is drawn against. None: two, if
            there are two.
        target_type : {"auto", "classes", "numbers"}, default="auto"
            What y holds.
        ax : matplotlib Axes, default=None
            Axes to draw on. None: new ones.

        Returns
        -------
        IndexDisplay
            The display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If there is no direction, an entry is not finite, y is unsuitable, or a
            parameter has another value than those above.
        """
        who = f"{cls.__name__}.from_indices"
        require("matplotlib.pyplot", who)
        display = cls(**_read(who, indices, y, target_type))
        return display.plot(ax, n_directions=n_directions)

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "response",
        n_directions: int | None = None,
    ) -> Self:
        """Draw the response or the eigenvalues.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None: new ones.
        kind : {"response", "eigenvalues"}, default="response"
            What to draw.
        n_directions : {1, 2}, default=None
            Number of directions that the response is drawn against. None: two, if
            there are two.

        Returns
        -------
        IndexDisplay
            This display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the display does not hold what is to be drawn, or a parameter has
            another value than those above.
        """
        who = f"{type(self).__name__}.plot"
        pyplot = require("matplotlib.pyplot", who)
        if kind not in KINDS:
            raise ValueError(
                f"{who}: 'kind' is {kind!r}. It must be one of {KINDS}. Pass "
                f'kind="{KINDS[0]}", say.'
            )
        if kind == "eigenvalues":
            shown = _eigenvalues(who, self.eigenvalues)
        else:
            shown = _directions(who, self.indices, n_directions)
        if ax is None:
            _, ax = pyplot.subplots()
        self.ax_, self.figure_ = ax, ax.figure
        self.points_: list[Any] = []
        self.smooth_: Any = None
        self.bars_: list[Any] = []
        self.edge_: Any = None
        if kind == "eigenvalues":
            self._draw_eigenvalues(shown)
        elif self.classes is not None:
            self._draw_classes(shown)
        else:
            self._draw_numbers(shown)
        return self

    def _draw_eigenvalues(self, values: FloatArray) -> None:
        ax, numbers = self.ax_, np.arange(1, len(values) + 1)
        kept = len(values) if self.n_components is None else self.n_components
        self.bars_ = [
            ax.bar(numbers[:kept], values[:kept], color="C0"),
            ax.bar(numbers[kept:], values[kept:], color="0.75"),
        ]
        if self.noise_edge is not None and not np.isnan(self.noise_edge):
            line = {"color": "k", "linestyle": "--", "linewidth": 1}
            self.edge_ = ax.axhline(self.noise_edge, label="noise edge", **line)
        if self.n_components is not None:
            self.bars_[0].set_label(f"kept: {kept}")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlim(0.4, len(values) + 0.6)
        ax.set_xlabel("Direction")
        ax.set_ylabel("Eigenvalue")
        if ax.get_legend_handles_labels()[0]:
            ax.legend()

    def _draw_classes(self, indices: FloatArray) -> None:
        ax = self.ax_
        groups = {
            str(label): indices[self.response == code]
            for code, label in enumerate(self.classes)
        }
        if indices.shape[1] == 2:
            self.points_ = [
                ax.scatter(*rows.T, label=label, **POINTS)
                for label, rows in groups.items()
            ]
        else:
            edges = np.histogram_bin_edges(indices, BINS)
            self.bars_ = [
                ax.hist(rows[:, 0], edges, label=label, alpha=0.5)[2]
                for label, rows in groups.items()
            ]
        ax.set_xlabel("Direction 1")
        ax.set_ylabel("Direction 2" if indices.shape[1] == 2 else "Rows")
        ax.legend(title=self.response_name)

    def _draw_numbers(self, indices: FloatArray) -> None:
        ax, response = self.ax_, self.response
        ax.set_xlabel("Direction 1")
        if indices.shape[1] == 2:
            low, high = np.quantile(response, COLORED)
            colors = {"c": response, "vmin": low, "vmax": high}
            self.points_ = [ax.scatter(*indices.T, **colors, **POINTS)]
            ax.set_ylabel("Direction 2")
            self.figure_.colorbar(
                self.points_[0], ax=ax, extend="both", label=self.response_name
            )
            return
        self.points_ = [ax.scatter(indices[:, 0], response, **POINTS)]
        ax.set_ylabel(self.response_name)
        curve = smooth(indices[:, 0], response)
        if curve is not None:
            (self.smooth_,) = ax.plot(*curve, color="C1", linewidth=2)


def smooth(index: FloatArray, response: FloatArray) -> tuple[FloatArray, ...] | None:
    """Grid of the index and the response expected there; None for one value of it."""
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import SplineTransformer

    n_knots = min(MAX_KNOTS, max(2, len(index) // ROWS_PER_KNOT))
    knots = np.unique(np.quantile(index, np.linspace(0, 1, n_knots)))
    if len(knots) < 2:
        return None
    model = make_pipeline(SplineTransformer(knots=knots[:, None]), RidgeCV(PENALTIES))
    grid = np.linspace(knots[0], knots[-1], 200)
    model.fit(index[:, None], response)
    return grid, np.asarray(model.predict(grid[:, None]))


def _read(who: str, indices: Any, y: Any, target_type: str) -> dict[str, Any]:
    """Rows and their response, as the display holds them."""
    rows = read_rows(indices, "indices", who, ensure_min_features=0)
    target = check_target(who, y, len(rows), target_type)
    return {
        "indices": rows,
        "response": target.values,
        "classes": target.classes,
        "response_name": str(getattr(y, "name", None) or "Response"),
    }


def _directions(who: str, indices: Any, n_directions: Any) -> FloatArray:
    """Leading columns, one or two."""
    if indices is None:
        raise ValueError(
            f"{who}: 'kind' is \"response\", but there are no rows. Pass X and y to "
            'from_estimator, or kind="eigenvalues".'
        )
    if not indices.shape[1]:
        raise ValueError(
            f"{who}: there are 0 directions to draw. Set n_components=1 in the "
            'estimator, or pass kind="eigenvalues" to see why none was kept.'
        )
    most = min(2, indices.shape[1])
    if n_directions is None:
        return np.asarray(indices[:, :most])
    if n_directions is True or n_directions not in range(1, most + 1):
        raise ValueError(
            f"{who}: 'n_directions' is {n_directions!r}. One or two of the "
            f"{indices.shape[1]} directions can be drawn: pass n_directions={most}."
        )
    return np.asarray(indices[:, :n_directions])


def _eigenvalues(who: str, eigenvalues: Any) -> FloatArray:
    if eigenvalues is None:
        raise ValueError(
            f"{who}: 'kind' is \"eigenvalues\", but the estimator has no eigenvalues_. "
            "Pass one that has them, such as the step of a pipeline, or "
            'kind="response".'
        )
    return np.asarray(eigenvalues, dtype=np.float64)
