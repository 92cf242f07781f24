"""What estimators are invariant to: claims, and checks of them on any estimator."""

from skrep._claims import GROUPS, RELATIONS, Claim
from skrep.invariance._check import check_invariance
from skrep.invariance._declared import unclaimed
from skrep.invariance._pytest import parametrize_with_invariances
from skrep.invariance._report import InvarianceReport
from skrep.invariance._table import invariance_table

__all__ = [
    "GROUPS",
    "RELATIONS",
    "Claim",
    "InvarianceReport",
    "check_invariance",
    "invariance_table",
    "parametrize_with_invariances",
    "unclaimed",
]
