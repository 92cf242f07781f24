"""The scores of every prefix as curves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from skrep.inspection._curves import Curve, read_curves, tick_lengths
from skrep.metrics import prefix_scores
from skrep.utils import require

__all__ = ["PrefixCurveDisplay"]


class PrefixCurveDisplay:
    """Prefix curves: what a vector is worth at every length it is cut to.

    It is recommended to use `from_estimator` or `from_scores` to make one. The lengths
    lie on a binary logarithmic axis, on which each doubling takes the same room; a
    dashed line continues each curve's score at its longest prefix, so that one sees
    from which length on nothing is lost.

    Parameters
    ----------
    curves : dict of str to (ndarray of shape (n_prefixes,), same)
        The lengths and the scores of each curve, by its label.
    score_name : str, default="score"
        What the curves show, for the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure that holds them.
    lines_ : list of matplotlib Line2D
        One line per curve.
    longest_lines_ : list of matplotlib Line2D
        The dashed lines, one per curve.

    See Also
    --------
    skrep.metrics.prefix_scores : The scores.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from skrep.datasets import load_mammals
    >>> from skrep.inspection import PrefixCurveDisplay
    >>> rows = load_mammals().data
    >>> display = PrefixCurveDisplay.from_estimator(
    ...     PCA().fit(rows[::2]), rows[1::2]
    ... )
    >>> [line.get_label() for line in display.lines_]
    ['PCA']
    >>> display.ax_.get_ylabel()
    'neighbor overlap'
    """

    def __init__(
        self, *, curves: Mapping[str, Curve], score_name: str = "score"
    ) -> None:
        self.curves = curves
        self.score_name = score_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        queries: Any = None,
        query_estimator: Any = None,
        relevant: Any = None,
        prefixes: str | Iterable[int] = "powers",
        scoring: Callable[..., float]
        | Mapping[str, Callable[..., float]]
        | None = None,
        n_neighbors: int = 10,
        k: int = 10,
        target_type: str = "auto",
        score: str | None = None,
        name: str | None = None,
        ax: Any = None,
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> Self:
        """Draw the scores of every prefix of what a fitted transformer gives.

        Parameters
        ----------
        estimator : fitted transformer
            One whose columns are ordered.
        X : {array-like, CSR} of shape (n_samples, n_features)
            Rows to score on.
        y : array-like of shape (n_samples,), default=None
            Classes or numbers of the rows.
        queries : {array-like, CSR} of shape (n_queries, n_query_features), \
                default=None
            Rows that search X.
        query_estimator : fitted transformer, default=None
            What transforms the queries. None: `estimator` does.
        relevant : array-like of shape (n_queries,), list of arrays or CSR, \
                default=None
            The row of X that each query looks for. None: row i of the queries looks
            for row i of X.
        prefixes : "powers" or iterable of int, default="powers"
            Lengths.
        scoring : callable or dict of callables, default=None
            Scores of one's own.
        n_neighbors : int, default=10
            Number of nearest rows.
        k : int, default=10
            How many documents are looked at.
        target_type : {"auto", "classes", "numbers"}, default="auto"
            What y holds.
        score : str, default=None
            The score to draw, one of the names that
            :func:`skrep.metrics.prefix_scores` gives. None: all of them.
        name : str, default=None
            Name of the curve. None: the name of the estimator's class.
        ax : matplotlib Axes, default=None
            Axes to draw on, such as `ax_` of another display. None: new ones.
        curve_kwargs : dict or list of dict, default=None
            Keywords of matplotlib's `plot`, for all curves or for each.

        Returns
        -------
        PrefixCurveDisplay
            The display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If `score` is not among the scores, or as
            :func:`skrep.metrics.prefix_scores` says.
        """
        require("matplotlib.pyplot", f"{cls.__name__}.from_estimator")
        scores = prefix_scores(
            estimator,
            X,
            y,
            queries=queries,
            query_estimator=query_estimator,
            relevant=relevant,
            prefixes=prefixes,
            scoring=scoring,
            n_neighbors=n_neighbors,
            k=k,
            target_type=target_type,
        )
        name = type(estimator).__name__ if name is None else name
        return cls.from_scores(
            scores, score=score, name=name, ax=ax, curve_kwargs=curve_kwargs
        )

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        *,
        score: str | None = None,
        name: str | None = None,
        ax: Any = None,
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> Self:
        """Draw scores that are there already.

        Parameters
        ----------
        scores : dict of arrays, DataFrame, or dict of these
            What :func:`skrep.metrics.prefix_scores` gives; or several of it by name,
            all on one axes.
        score : str, default=None
            The score to draw. None: all that are there.
        name : str, default=None
            Name of the curve, where `scores` is one table. None: the name of the
            score.
        ax : matplotlib Axes, default=None
            Axes to draw on. None: new ones.
        curve_kwargs : dict or list of dict, default=None
            Keywords of matplotlib's `plot`, for all curves or for each.

        Returns
        -------
        PrefixCurveDisplay
            The display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If `scores` is no table with a 'prefix', `score` is not among its names,
            or `name` comes with several tables.
        """
        who = f"{cls.__name__}.from_scores"
        curves, score_name = read_curves(who, scores, score, name)
        display = cls(curves=curves, score_name=score_name)
        return display.plot(ax, curve_kwargs=curve_kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None: new ones.
        curve_kwargs : dict or list of dict, default=None
            Keywords of matplotlib's `plot`, for all curves or for each.

        Returns
        -------
        PrefixCurveDisplay
            This display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If `curve_kwargs` is a list of another length than there are curves.
        """
        who = f"{type(self).__name__}.plot"
        pyplot = require("matplotlib.pyplot", who)
        styles = _styles(who, curve_kwargs, len(self.curves))
        if ax is None:
            _, ax = pyplot.subplots()
        self.ax_, self.figure_ = ax, ax.figure
        self.lines_: list[Any] = []
        self.longest_lines_: list[Any] = []
        for (label, curve), style in zip(self.curves.items(), styles, strict=True):
            (line,) = ax.plot(*curve, **{"label": label, "marker": "o", **style})
            self.lines_.append(line)
            self.longest_lines_.append(
                ax.axhline(
                    curve[1][-1],
                    color=line.get_color(),
                    linestyle="--",
                    linewidth=0.8,
                    alpha=0.6,
                    zorder=1,
                )
            )
        _label_axes(ax, self.score_name)
        return self


def _styles(who: str, curve_kwargs: Any, n_curves: int) -> list[Mapping[str, Any]]:
    if curve_kwargs is None or isinstance(curve_kwargs, Mapping):
        return [curve_kwargs or {}] * n_curves
    if len(curve_kwargs) != n_curves:
        raise ValueError(
            f"{who}: 'curve_kwargs' has {len(curve_kwargs)} entries, for {n_curves} "
            "curves. Pass one dict for each curve, or one dict for all."
        )
    return list(curve_kwargs)


def _label_axes(ax: Any, score_name: str) -> None:
    """Lengths as tick labels, those of curves drawn earlier included."""
    ticker = require("matplotlib.ticker", "PrefixCurveDisplay.plot")
    drawn = [line for line in ax.lines if line.get_transform() == ax.transData]
    ticks = tick_lengths(np.concatenate([line.get_xdata() for line in drawn]))
    ax.set_xscale("log", base=2)
    ax.set_xticks(ticks, [str(int(tick)) for tick in ticks])
    ax.xaxis.set_minor_locator(ticker.NullLocator())
    ax.set_xlabel("Prefix length")
    ax.set_ylabel(score_name.replace("_", " "))
    ax.legend()
