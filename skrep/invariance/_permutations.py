"""Elements that move things about: rows, columns, nodes, names of classes."""

from typing import Any

import numpy as np

from skrep.invariance._containers import take
from skrep.invariance._elements import Element, short
from skrep.typing import AnyArray, IntArray

__all__ = ["ColumnPermutation", "LabelPermutation", "Relabelling", "RowPermutation"]


class ColumnPermutation(Element):
    """Column j of the result is column ``order[j]``; names travel with columns."""

    group = "column_permutation"

    def __init__(self, order: IntArray) -> None:
        self.order = order

    def apply(self, X: Any, y: Any = None) -> tuple[Any, Any]:
        return take(X, self.order, axis=1), y

    def apply_output(self, Z: AnyArray) -> AnyArray:
        if Z.ndim != 2 or Z.shape[1] != len(self.order):
            raise self._refuse_output(Z, f"{len(self.order)} columns, as X has")
        return Z[:, self.order]

    def inverse(self) -> "ColumnPermutation":
        return ColumnPermutation(np.argsort(self.order))

    def describe(self) -> str:
        return f"columns in the order {short(self.order)}"


class RowPermutation(Element):
    """Row i of the result is row ``order[i]``, in X, y and the weights."""

    group = "row_permutation"
    moves_rows = True

    def __init__(self, order: IntArray) -> None:
        self.order = order

    def apply(self, X: Any, y: Any = None) -> tuple[Any, Any]:
        return take(X, self.order), self.apply_rowwise(y)

    def apply_rowwise(self, values: Any) -> Any:
        return None if values is None else take(values, self.order)

    def apply_output(self, Z: AnyArray) -> AnyArray:
        if len(Z) != len(self.order):
            raise self._refuse_output(Z, f"{len(self.order)} rows, as X has")
        return Z[self.order]

    def inverse(self) -> "RowPermutation":
        return type(self)(np.argsort(self.order))

    def describe(self) -> str:
        return f"rows in the order {short(self.order)}"


class Relabelling(RowPermutation):
    """Nodes change names: rows and columns of the relation matrix move alike.

    Outputs have one row per node, so only their rows move.
    """

    group = "tree_relabelling"

    def apply(self, X: Any, y: Any = None) -> tuple[Any, Any]:
        return take(take(X, self.order), self.order, axis=1), self.apply_rowwise(y)

    def describe(self) -> str:
        return f"nodes in the order {short(self.order)}"


class LabelPermutation(Element):
    """Class ``classes[k]`` is called ``classes[order[k]]`` from now on.

    Outputs follow in one of two ways: labels are renamed, and a column per class
    (probabilities, say) goes where its class now stands in sorted order.
    """

    group = "label_permutation"

    def __init__(self, classes: AnyArray, order: IntArray) -> None:
        self.classes = classes
        self.order = order

    def _rename(self, labels: AnyArray) -> AnyArray:
        return self.classes[self.order][np.searchsorted(self.classes, labels)]

    def apply(self, X: Any, y: Any = None) -> tuple[Any, Any]:
        renamed = self._rename(np.asarray(y))
        if hasattr(y, "index") and hasattr(y, "dtype"):
            return X, type(y)(renamed, index=y.index, name=y.name, dtype=y.dtype)
        return X, renamed

    def apply_output(self, Z: AnyArray) -> AnyArray:
        if Z.ndim == 1 and np.isin(Z, self.classes).all():
            return self._rename(Z)
        if Z.ndim == 2 and Z.shape[1] == len(self.classes):
            return Z[:, np.argsort(self.order)]
        raise self._refuse_output(Z, "labels, or with one column per class")

    def inverse(self) -> "LabelPermutation":
        return LabelPermutation(self.classes, np.argsort(self.order))

    def describe(self) -> str:
        pairs = zip(self.classes, self.classes[self.order], strict=True)
        return "classes " + ", ".join(f"{old} -> {new}" for old, new in pairs)
