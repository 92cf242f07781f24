"""Layer grid: which layer of a network, and how many columns of it."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, _fit_context
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep._linear import overflow_error
from skrep.linalg import project_rows
from skrep.nested._layer_input import read_layers
from skrep.nested._layer_search import choose, layer_claims
from skrep.nested._prefix import PrefixMixin
from skrep.typing import FloatArray, IntArray
from skrep.utils import require
from skrep.utils.validation import check_sample_weight

__all__ = ["LayerGrid"]


class LayerGrid(PrefixMixin, ClassNamePrefixFeaturesOutMixin, SkrepTransformer):
    r"""Choose or fuse the layers of a network, and cut their dimensions, in one fit.

    The last layer of an encoder is not always the one that serves a task best, nor are
    all of its columns needed. With the vectors of several layers per row, each layer
    gets ordered axes (:class:`NestedProjection`), and every pair of a layer and a
    length gets a cross-validated score: whether the nearest rows of other folds, by
    Euclidean distance, tell the target. The best pair is kept, or the shortest that is
    good enough,

    .. math:: x \mapsto (x_l - m_l)^\top B_{l, :k},

    and the grid of scores is there to be looked at. Without a target the score is the
    share of nearest rows that are so in all layers together.

    Read more in the :ref:`User Guide <layer_grid>`.

    Parameters
    ----------
    layers : int, sequence of int or None, default=None
        How columns fall into layers: the number of equal blocks, or the width of each.
        None is one layer, or those of an X of shape (n_samples, n_layers, width).
    n_components : int or None, default=None
        Length of the output. None chooses from `prefixes`.
    fuse : {"select", "concatenate", "mean"}, default="select"
        What becomes of the layers. "select" keeps the best one; "concatenate" puts all
        side by side, each brought to the same mean square; "mean" averages them, which
        asks for layers of one width in one basis, such as the states of a residual
        network. The grid of the latter two has a last row for all layers fused, of
        which the length is chosen.
    objective : {"variance", "classes"}, default="variance"
        What axes are ordered by: variance, or telling the classes of `y` (or slices of
        a number) apart.
    prefixes : "powers", int or sequence of int, default="powers"
        Lengths that are tried where `n_components` is None: powers of two from 8, and
        the whole width of every layer, or those given.
    tolerance : float, default=0.0
        Share of the best score, from 0 to 1, that may be lost for a shorter output.
    n_neighbors : int, default=10
        Neighbors that a score asks, or all rows of other folds where they are fewer.
    n_splits : int, default=5
        Number of folds, or one for each distinct row where these are fewer.
    target_type : {"auto", "classes", "numbers"}, default="auto"
        What `y` holds. "auto" takes strings, booleans, categories and up to 20
        distinct integers for classes, other numbers for numbers.

    Attributes
    ----------
    layer_ : int or None
        Position of the chosen layer; None if layers are fused.
    n_components_ : int
        Length of the output.
    best_score_ : float
        Score of the choice: accuracy for classes, :math:`R^2` for numbers, the share
        of common neighbors without a target. Chosen as the best of many, it flatters.
    grid_scores_ : ndarray of shape (n_layers, n_lengths) or (n_layers + 1, n_lengths)
        All scores; NaN where a layer has fewer columns.
    lengths_ : ndarray of shape (n_lengths,)
        The lengths.
    layer_widths_ : tuple of int
        Widths of the layers.
    components_ : ndarray of shape (n_components_, n_columns)
        Axes, as rows, for the columns of the chosen layer, or for all.
    mean_ : ndarray of shape (n_columns,)
        Weighted mean of these columns.
    n_features_in_ : int
        Number of columns of all layers.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X, if they are all strings.

    See Also
    --------
    NestedProjection : The axes of one layer.
    skrep.model_selection.PrefixSearchCV : Choose the length by any score.

    Notes
    -----
    Folds are dealt by content: equal rows share one, and the order of rows does not
    matter. Axes are fitted without the fold that is scored, so that a fit takes
    ``n_splits`` eigenproblems for every layer, and one for the choice.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.datasets import load_mammals
    >>> from skrep.nested import LayerGrid
    >>> mammals = load_mammals()
    >>> X = np.hstack([mammals.gloss["wordllama"], mammals.gloss["minilm"]])[:400]
    >>> y = mammals.target[:400]
    >>> grid = LayerGrid((256, 384), target_type="classes", tolerance=0.02).fit(X, y)
    >>> grid.layer_, grid.grid_scores_.shape
    (1, (2, 7))
    >>> grid.transform(X).shape == (400, grid.n_components_)
    True
    """

    layer_: int | None
    n_components_: int
    best_score_: float
    grid_scores_: FloatArray
    lengths_: IntArray
    layer_widths_: tuple[int, ...]
    components_: FloatArray
    mean_: FloatArray
    n_features_in_: int
    _columns: slice

    _parameter_constraints = {
        "layers": "no_validation",
        "n_components": "no_validation",
        "fuse": [StrOptions({"select", "concatenate", "mean"})],
        "objective": [StrOptions({"variance", "classes"})],
        "prefixes": "no_validation",
        "tolerance": [Interval(Real, 0, 1, closed="both")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_splits": [Interval(Integral, 2, None, closed="left")],
        "target_type": [StrOptions({"auto", "classes", "numbers"})],
    }

    def __init__(
        self,
        layers: Any = None,
        n_components: int | None = None,
        *,
        fuse: str = "select",
        objective: str = "variance",
        prefixes: Any = "powers",
        tolerance: float = 0.0,
        n_neighbors: int = 10,
        n_splits: int = 5,
        target_type: str = "auto",
    ) -> None:
        self.layers = layers
        self.n_components = n_components
        self.fuse = fuse
        self.objective = objective
        self.prefixes = prefixes
        self.tolerance = tolerance
        self.n_neighbors = n_neighbors
        self.n_splits = n_splits
        self.target_type = target_type

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Score the grid, and fit the choice to all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_layers, width)
            Rows, of at least two distinct ones.
        y : array-like of shape (n_samples,), default=None
            Classes or numbers that neighbors should tell.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row.

        Returns
        -------
        LayerGrid
            The fitted estimator.

        Raises
        ------
        ValueError
            If layers do not fit the columns, or another parameter does not suit.
        """
        rows, widths = read_layers(self, X, self.layers, reset=True)
        weights = check_sample_weight(type(self).__name__, sample_weight, len(rows))
        kept = np.flatnonzero(weights)
        if len(kept) < len(rows):
            y = y if y is None else _safe_indexing(y, kept)
            rows, weights = rows[kept], weights[kept]
        found = choose(self, rows, widths, y, weights)
        self.layer_widths_, self._columns = widths, found.columns
        self.grid_scores_, self.lengths_ = found.scores, found.lengths
        self.layer_, self.best_score_ = found.layer, found.best_score
        self.components_, self.mean_ = found.components, found.mean
        self.n_components_ = len(found.components)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Project rows onto the axes of the choice.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_layers, width)
            Rows, with all layers of fit.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
            The coordinates, the most telling first, in the float type of X.
        """
        check_is_fitted(self)
        rows, _ = read_layers(self, X, self.layer_widths_, reset=False)
        with np.errstate(invalid="ignore", over="ignore"):
            Z = project_rows(rows[:, self._columns], self.components_, self.mean_)
        if not np.isfinite(Z).all():
            raise overflow_error(type(self).__name__, Z.dtype)
        return Z

    def grid_frame(self) -> Any:
        """Give the scores as a table, to look at or to plot.

        Returns
        -------
        DataFrame of shape (n_layers, n_lengths)
            One row per layer, numbered, and "fused" last where they are; one column
            per length.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        check_is_fitted(self)
        pandas = require("pandas", f"{type(self).__name__}.grid_frame")
        names = [*range(len(self.layer_widths_)), "fused"][: len(self.grid_scores_)]
        return pandas.DataFrame(
            self.grid_scores_,
            index=pandas.Index(names, name="layer"),
            columns=pandas.Index(self.lengths_, name="length"),
        )

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on a matrix X and fitting again leaves alone.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support.
        """
        return layer_claims(
            self.objective,
            self.fuse,
            several=self.layers is not None,
            labels=self.target_type != "numbers",
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.objective == "classes"
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _keep(self, k: int) -> None:
        super()._keep(k)
        self.n_components_ = k
