"""What a check found."""

from dataclasses import dataclass

from skrep._claims import Claim
from skrep.invariance._elements import Element

__all__ = ["InvarianceReport"]


@dataclass(frozen=True, repr=False)
class InvarianceReport:
    """Outcome of `check_invariance`; true in a condition if the claim held.

    Parameters
    ----------
    claim : Claim
        The claim that was tried.
    deviation : float
        The worst deviation over all draws: relative to the root mean square of the
        reference output (a share of samples for labels, radians for "same_span").
    tolerance : float
        The largest deviation that counts as rounding.
    draw : Element
        The group element that caused the worst deviation; ``draw.apply(X, y)``
        repeats it, ``draw.describe()`` says what it does.
    estimator : str
        Name of the estimator's class.
    method : str
        The output that was compared.

    Attributes
    ----------
    holds : bool
        Whether no draw went beyond the tolerance.

    See Also
    --------
    check_invariance : Make a report.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skrep.invariance import Claim, check_invariance
    >>> X, _ = load_iris(return_X_y=True)
    >>> report = check_invariance(StandardScaler(), Claim("positive_scaling"), X)
    >>> report.holds
    True
    >>> check_invariance(StandardScaler(), Claim("sign_flip"), X)
    StandardScaler.transform: unchanged under sign_flip is broken.
    Deviation 6.2 (tolerance 1.5e-08) by <sign_flip: columns times [ 1. -1.  1.  1.]>
    """

    claim: Claim
    deviation: float
    tolerance: float
    draw: Element
    estimator: str
    method: str

    @property
    def holds(self) -> bool:
        """Whether no draw went beyond the tolerance."""
        return self.deviation <= self.tolerance

    def __bool__(self) -> bool:
        # Without this, `assert check_invariance(...)` would pass whatever was found.
        return self.holds

    def __repr__(self) -> str:
        verdict = "held in every draw" if self.holds else "is broken"
        return (
            f"{self.estimator}.{self.method}: {self.claim} {verdict}.\n"
            f"Deviation {self.deviation:.2g} (tolerance {self.tolerance:.2g}) "
            f"by {self.draw!r}"
        )
