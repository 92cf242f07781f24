"""Names for the arrays that skrep passes around."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["AnyArray", "FloatArray", "IntArray", "Matrix", "SparseMatrix"]

AnyArray: TypeAlias = npt.NDArray[Any]
FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
# CSR matrix or array, and dense or CSR: their operators have no common type.
SparseMatrix: TypeAlias = Any
Matrix: TypeAlias = Any
