"""Rotate frozen vectors so that their first coordinates serve given labels."""

from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import Tags

from skrep._claims import Claim
from skrep.linalg import GroupMoments
from skrep.nested._linear import NestedTransformer
from skrep.nested._roles import role_basis
from skrep.typing import FloatArray, IntArray
from skrep.utils.targets import check_target
from skrep.utils.validation import (
    check_n_components,
    check_overflow,
    check_sample_weight,
    validate_rows,
)

__all__ = ["PrefixRotation"]


def _label_levels(who: str, y: Any, n_rows: int) -> list[IntArray]:
    """Codes of the labels, one array per level."""
    table = np.array(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if table.ndim < 2:
        return [check_target(who, y, n_rows, "classes").values]
    if table.ndim > 2 or not table.shape[1]:
        raise ValueError(
            f"{who}: 'y' has shape {table.shape}. It must be (n_samples,) or "
            "(n_samples, n_levels): pass one column of labels per level, the coarsest "
            "first, such as np.column_stack([coarse, fine])."
        )
    return [
        check_target(f"{who}, level {level}", column, n_rows, "classes").values
        for level, column in enumerate(table.T)
    ]


class PrefixRotation(NestedTransformer):
    r"""Rotate vectors so that their first coordinates tell given classes apart.

    The vectors are multiplied by an orthogonal matrix whose rows have roles, after an
    idea of [1]_: the first tell the coarse classes apart, the next the finer ones, and
    so on for every level of labels; the rest are ordered by variance. A prefix then
    serves the coarse question, a longer one the finer questions, too, while at full
    length nothing has changed: nothing is subtracted and nothing scaled, so all inner
    products, cosines and distances of the frozen vectors are kept.

    It is found in closed form, by deflation. The axes of a level are, in the orthogonal
    complement of all axes before, the eigenvectors of

    .. math::

        \sum_{a < b} p_a p_b \frac{\operatorname{erf}(D_{ab} / 2\sqrt 2)}{2 D_{ab}^2}
        (m_a - m_b)(m_a - m_b)^\top

    in coordinates where the shrunk covariance within classes is the identity, with the
    shares p and means m of the classes and the distances D of the means [2]_; they are
    brought back and made orthonormal in their order, which leaves the span of every
    prefix as it is.

    Read more in the :ref:`User Guide <nested>`.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of coordinates to keep; None keeps all, which is an isometry.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
        The axes, as rows: orthonormal, the largest entry of each positive.
    roles_ : ndarray of shape (n_components,)
        The level that each axis serves, 0 for the coarsest, or -1 for variance. A level
        has at most one axis less than classes, and none where its classes have equal
        means or no direction is left.
    objective_values_ : ndarray of shape (n_components,)
        What each axis is worth to its role, non-increasing within a role. For a level
        its eigenvalue; the sum over the axes of a level is
        :math:`\sum_{a < b} p_a p_b (A_{ab} - 1/2)`, with A the accuracy of telling two
        normal classes of these means and that covariance apart. For variance the
        variance along the axis, 0 where the rows have none.
    mean_ : None
        Nothing is subtracted.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    NestedProjection : Axes for one objective, which scale the vectors as well.

    Notes
    -----
    An axis of a level may carry a trace of the levels before: their discriminants are
    orthogonal to it, but not all that differs between their classes.

    References
    ----------
    .. [1] Li, Z., Pan, C. and Qi, H. (2026). GraSP-VL: length as a semantic granularity
       interface for vision-language representations. arXiv:2605.17727.
    .. [2] Loog, M., Duin, R. P. W. and Haeb-Umbach, R. (2001). Multiclass linear
       dimension reduction by weighted pairwise Fisher criteria. IEEE Transactions on
       Pattern Analysis and Machine Intelligence, 23(7), 762-766.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from skrep.nested import PrefixRotation
    >>> X, species = load_iris(return_X_y=True)
    >>> coarse = species > 0
    >>> rotation = PrefixRotation().fit(X, np.column_stack([coarse, species]))
    >>> rotation.roles_
    array([ 0,  1,  1, -1])
    >>> Z = rotation.transform(X)
    >>> bool(np.allclose(Z @ Z.T, X @ X.T))
    True
    >>> rotation.prefix(1).transform(X).shape
    (150, 1)
    """

    _parameter_constraints: dict[str, Any] = {"n_components": "no_validation"}

    roles_: IntArray
    objective_values_: FloatArray

    _per_component = ("components_", "objective_values_", "roles_")

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Find the rotation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_levels)
            Labels of any type, one column per level, the coarsest first.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row.

        Returns
        -------
        PrefixRotation
            The fitted estimator.

        Raises
        ------
        ValueError
            If y is missing, has missing entries, or does not fit X, or if there are
            fewer columns than `n_components`.
        TypeError
            If X is sparse.
        """
        name = type(self).__name__
        X = validate_rows(self, X, reset=True)
        k = check_n_components(name, self.n_components, X.shape[1])
        levels = _label_levels(name, y, X.shape[0])
        weights = check_sample_weight(name, sample_weight, X.shape[0])
        groups = [GroupMoments.of(X, codes, weights) for codes in levels]
        check_overflow(name, *(level.scatter for level in groups))
        basis = role_basis(groups)
        self.components_ = basis.components.astype(X.dtype)
        self.objective_values_ = basis.values.astype(X.dtype)
        self.roles_ = basis.roles
        self.mean_ = None
        self._keep(k)
        return self

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on the rows and fitting again leaves alone.

        Returns
        -------
        tuple of Claim
            The claims, which hold at every length.
        """
        return (
            Claim("orthogonal", "up_to_sign"),
            Claim("column_permutation"),
            Claim("positive_scaling", "same_action"),
            Claim("translation", "same_distances"),
            Claim("row_permutation", "same_action"),
            Claim("label_permutation"),
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags
