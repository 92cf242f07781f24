"""What every group element can do."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from skrep.typing import AnyArray

__all__ = ["Element", "short"]


class Element(ABC):
    """One element of a group: one change of the inputs.

    Attributes
    ----------
    group : str
        The group it was drawn from.
    moves_rows : bool
        Whether samples change places.
    """

    group: str
    moves_rows: bool = False

    @abstractmethod
    def apply(self, X: Any, y: Any = None) -> tuple[Any, Any]:
        """Return the changed (X, y); what the group leaves alone is passed on."""

    def apply_rowwise(self, values: Any) -> Any:
        """Return values with one entry per sample (such as weights), changed."""
        return values

    @abstractmethod
    def apply_output(self, Z: AnyArray) -> AnyArray:
        """Return an output changed by the same action."""

    @abstractmethod
    def inverse(self) -> "Element":
        """Return the element that undoes this one."""

    @abstractmethod
    def describe(self) -> str:
        """Say in words what this element does."""

    def __repr__(self) -> str:
        return f"<{self.group}: {self.describe()}>"

    def _refuse_output(self, Z: AnyArray, needs: str) -> ValueError:
        shape = " x ".join(str(size) for size in Z.shape)
        return ValueError(
            f"check_invariance: the output has shape {shape}. An element of "
            f"{self.group!r} acts on outputs with {needs}. Claim another relation "
            "than 'same_action', or choose another output with method=."
        )


def short(values: AnyArray) -> str:
    """Print a vector in one line, its middle left out if it is long."""
    return np.array2string(
        np.asarray(values), precision=3, threshold=8, edgeitems=3, max_line_width=10_000
    )
