"""Elements that do arithmetic on X: affine maps and scalings."""

from typing import Any

import numpy as np
from scipy.linalg import inv

from skrep.invariance._containers import map_dense, scale_columns, scale_rows
from skrep.invariance._elements import Element, short
from skrep.typing import AnyArray, FloatArray

__all__ = ["AffineMap", "ColumnScaling", "RowScaling"]


class AffineMap(Element):
    """Every row x becomes ``matrix @ x + offset``.

    Parameters
    ----------
    group : str
        The group it was drawn from.
    matrix : ndarray of shape (n_features, n_features) or None
        None stands for the identity.
    offset : ndarray of shape (n_features,) or None
        None stands for zero.
    """

    def __init__(
        self, group: str, matrix: FloatArray | None, offset: FloatArray | None = None
    ) -> None:
        self.group = group
        self.matrix = matrix
        self.offset = offset

    def _act(self, values: AnyArray) -> AnyArray:
        if self.matrix is not None:
            values = values @ self.matrix.T
        return values if self.offset is None else values + self.offset

    def apply(self, X: Any, y: Any = None) -> tuple[Any, Any]:
        return map_dense(X, self._act, self.group), y

    def apply_output(self, Z: AnyArray) -> AnyArray:
        given = self.matrix if self.matrix is not None else self.offset
        width = 0 if given is None else len(given)
        if Z.ndim != 2 or Z.shape[1] != width:
            raise self._refuse_output(Z, f"{width} columns, as X has")
        return self._act(Z)

    def inverse(self) -> "AffineMap":
        matrix = None if self.matrix is None else inv(self.matrix)
        offset = self.offset
        if offset is not None:
            offset = -offset if matrix is None else -matrix @ offset
        return AffineMap(self.group, matrix, offset)

    def describe(self) -> str:
        parts = []
        if self.matrix is not None:
            sign, log_det = np.linalg.slogdet(self.matrix)
            size = len(self.matrix)
            parts.append(
                f"{size} x {size} matrix of determinant {sign * np.exp(log_det):.3g}"
                f" and first row {short(self.matrix[0])}"
            )
        if self.offset is not None:
            parts.append(f"plus {short(self.offset)}")
        return ", ".join(parts)


class ColumnScaling(Element):
    """Column j is multiplied by ``factors[j]``.

    Parameters
    ----------
    group : str
        The group it was drawn from.
    factors : ndarray of shape (n_features,) or (1,)
        Nonzero; one factor serves all columns, whatever their number.
    """

    def __init__(self, group: str, factors: FloatArray) -> None:
        self.group = group
        self.factors = factors

    def apply(self, X: Any, y: Any = None) -> tuple[Any, Any]:
        return scale_columns(X, self.factors, self.group), y

    def apply_output(self, Z: AnyArray) -> AnyArray:
        if len(self.factors) > 1 and (Z.ndim != 2 or Z.shape[1] != len(self.factors)):
            raise self._refuse_output(Z, f"{len(self.factors)} columns, as X has")
        return Z * self.factors

    def inverse(self) -> "ColumnScaling":
        return ColumnScaling(self.group, 1.0 / self.factors)

    def describe(self) -> str:
        if len(self.factors) == 1:
            return f"every entry times {self.factors[0]:.4g}"
        return f"columns times {short(self.factors)}"


class RowScaling(Element):
    """Row i is multiplied by ``factors[i]``.

    Parameters
    ----------
    factors : ndarray of shape (n_samples,)
        Positive.
    """

    group = "row_scaling"

    def __init__(self, factors: FloatArray) -> None:
        self.factors = factors

    def apply(self, X: Any, y: Any = None) -> tuple[Any, Any]:
        return scale_rows(X, self.factors, self.group), y

    def apply_output(self, Z: AnyArray) -> AnyArray:
        if len(Z) != len(self.factors):
            raise self._refuse_output(Z, f"{len(self.factors)} rows, as X has")
        return Z * self.factors.reshape(-1, *[1] * (Z.ndim - 1))

    def inverse(self) -> "RowScaling":
        return RowScaling(1.0 / self.factors)

    def describe(self) -> str:
        return f"rows times {short(self.factors)}"
