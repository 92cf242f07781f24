"""What an estimator can say about its own invariances: names only, nothing heavy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

__all__ = ["GROUPS", "RELATIONS", "Claim", "strict_relation"]

GROUPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "orthogonal": "every row is rotated, reflected, or both, about the origin",
        "rotation": "every row is rotated about the origin (determinant +1)",
        "positive_scaling": "every entry is multiplied by one positive number",
        "row_scaling": "each row is multiplied by a positive number of its own",
        "translation": "one vector is added to every row",
        "column_permutation": "the columns change places",
        "sign_flip": "some columns change sign",
        "column_scaling": "each column is multiplied by a positive number of its own",
        "invertible_linear": "every row goes through one invertible linear map",
        "invertible_affine": "an invertible linear map, then a translation",
        "row_permutation": "the rows of X, y and the weights change places together",
        "label_permutation": "the classes of y exchange names; X stays",
        "tree_relabelling": "rows and columns of a square X change places alike",
    }
)
"""Each group's name and what it does to the inputs (read-only)."""

RELATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "unchanged": "the same output, entry by entry",
        "same_action": "the output is acted upon as the input was",
        "up_to_sign": "the same, but any output column may change sign",
        "up_to_orthogonal": "the same after one orthogonal map of the output columns",
        "same_distances": "the same distances between all pairs of output rows",
        "same_span": "the centered output columns span the same subspace",
    }
)
"""Each relation's name and what it asks of the outputs (read-only)."""

# Groups that move samples: their outputs are compared sample by sample.
_MOVE_ROWS: Final = frozenset({"row_permutation", "tree_relabelling"})

# Each relation of this chain follows from the one before it.
_CHAIN: Final = ("up_to_sign", "up_to_orthogonal", "same_distances", "same_span")

_ORTHOGONAL: Final = frozenset({"rotation", "column_permutation", "sign_flip"})
_LINEAR: Final = _ORTHOGONAL | {"orthogonal", "positive_scaling", "column_scaling"}
_SUBGROUPS: Final[Mapping[str, frozenset[str]]] = {
    "orthogonal": _ORTHOGONAL,
    "row_scaling": frozenset({"positive_scaling"}),
    "column_scaling": frozenset({"positive_scaling"}),
    "invertible_linear": _LINEAR,
    "invertible_affine": _LINEAR | {"invertible_linear", "translation"},
}

# An output that is acted upon is also equal in this weaker sense: rotated outputs
# keep their distances, and so on. Groups left out give nothing weaker.
_ACTION_GIVES: Final[Mapping[str, str]] = {
    "orthogonal": "up_to_orthogonal",
    "rotation": "up_to_orthogonal",
    "column_permutation": "up_to_orthogonal",
    "sign_flip": "up_to_sign",
    "translation": "same_distances",
    "positive_scaling": "same_span",
    "column_scaling": "same_span",
    "invertible_linear": "same_span",
    "invertible_affine": "same_span",
    "row_permutation": "up_to_sign",
    "tree_relabelling": "up_to_sign",
}


def strict_relation(group: str) -> str:
    """Return the strictest relation worth claiming under a group.

    Parameters
    ----------
    group : str
        A key of `GROUPS`.

    Returns
    -------
    str
        "same_action" where samples change places, "unchanged" elsewhere.
    """
    return "same_action" if group in _MOVE_ROWS else "unchanged"


def _weaker(relation: str, group: str) -> tuple[str, ...]:
    """List the relations that follow from one relation under one group."""
    if relation == strict_relation(group):
        return _CHAIN
    start = _ACTION_GIVES.get(group) if relation == "same_action" else relation
    if start not in _CHAIN:
        return ()
    first = _CHAIN.index(start)
    return _CHAIN[first + (relation == start) :]


@dataclass(frozen=True)
class Claim:
    """One invariance that an estimator claims.

    The estimator says: if an element of `group` acts on the input, then `relation`
    holds between the output and the output of the untouched input.

    Parameters
    ----------
    group : str
        What acts on the inputs: a key of `skrep.invariance.GROUPS`.
    relation : str, default="unchanged"
        How the outputs answer: a key of `skrep.invariance.RELATIONS`.
    refit : bool, default=True
        If True, the claim is about fitting and transforming: the estimator is
        fitted again on the changed data. If False, it is about the fitted state
        alone: one fit, and two calls of `transform`.

    Raises
    ------
    ValueError
        If a name is unknown, or if the claim could never be broken.

    See Also
    --------
    skrep.invariance.check_invariance : Try a claim on an estimator and data.
    skrep.invariance.unclaimed : The claims that an estimator does not make.

    Examples
    --------
    >>> from skrep.invariance import Claim
    >>> claim = Claim("orthogonal", "up_to_sign")
    >>> print(claim)
    up_to_sign under orthogonal
    >>> claim.implies(Claim("rotation", "same_span"))
    True
    >>> claim.implies(Claim("rotation", "unchanged"))
    False
    """

    group: str
    relation: str = "unchanged"
    refit: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("group", self.group, GROUPS),
            ("relation", self.relation, RELATIONS),
        ):
            if value not in tuple(allowed):
                raise ValueError(
                    f"Claim: '{name}' is {value!r}. It must be one of: "
                    f"{', '.join(allowed)}."
                )
        if self.group == "label_permutation" and not self.refit:
            raise ValueError(
                "Claim: 'refit' is False with group 'label_permutation'. Labels reach "
                "an estimator through fit alone, so this claim could never be broken. "
                "Use Claim('label_permutation')."
            )

    def __str__(self) -> str:
        once = "" if self.refit else ", fitted once"
        return f"{self.relation} under {self.group}{once}"

    def implies(self, other: "Claim") -> bool:
        """Tell whether another claim follows from this one.

        A claim on a group holds on its subgroups, and a relation brings the weaker
        ones along: unchanged, up to sign, up to an orthogonal map, same distances,
        same span. Nothing follows between claims with different `refit`.

        Parameters
        ----------
        other : Claim
            The claim that might follow.

        Returns
        -------
        bool
            True if it follows (a claim follows from itself).
        """
        if self.refit != other.refit:
            return False
        if other.group != self.group and other.group not in _SUBGROUPS.get(
            self.group, ()
        ):
            return False
        return other.relation == self.relation or other.relation in _weaker(
            self.relation, other.group
        )
