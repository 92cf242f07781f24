"""Every claim of every estimator holds, and what is not claimed is broken."""

import inspect
import itertools

import numpy as np
import pytest
from sklearn.decomposition import PCA

from skrep.invariance import (
    Claim,
    check_invariance,
    parametrize_with_invariances,
    unclaimed,
)
from skrep.relative import LatentAlignment, RelativeRepresentation
from skrep.relative._kinds import SIMILARITIES
from skrep.relative._selection import SELECTIONS
from skrep.utils.discovery import all_estimators
from skrep.utils.estimator_checks._data import make_rows, make_target

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5)) * [3, 2, 1, 1, 0.5] + [1, 0, 5, 0, 0]

RELATIVE = [
    RelativeRepresentation(
        7, similarity=similarity, selection=selection, center=center, random_state=0
    )
    for similarity, selection, center in itertools.product(
        SIMILARITIES, sorted(SELECTIONS - {"stratified"}), (True, False)
    )
]
GIVEN = [
    RelativeRepresentation(
        anchors=anchors, similarity=similarity, center=center, scale=scale
    )
    for anchors, similarity, center, scale in itertools.product(
        ([0, 5, 9, 20, 31, 40], X[[0, 5, 9, 20, 31, 40]]),
        SIMILARITIES,
        (True, False),
        (True, False),
    )
]
ALIGNED = [
    *(
        LatentAlignment(method)
        for method in ("shrunk", "orthogonal", "ridge", "affine")
    ),
    *(LatentAlignment(method, n_components=3) for method in ("low_rank", "cca")),
]


def shown(estimator):
    """Name an estimator without the numbers of its anchors."""
    params = estimator.get_params()
    given = np.ndim(params.pop("anchors", None))
    return f"{given}-" + "-".join(str(value) for value in params.values())


def noisy_target():
    rng = np.random.default_rng(1)
    return X @ rng.standard_normal((5, 4)) + rng.standard_normal((60, 4))


def target(estimator):
    return noisy_target() if isinstance(estimator, LatentAlignment) else None


def made(cls):
    """Make a default instance; a search has nothing to search without an estimator."""
    parameters = inspect.signature(cls).parameters
    if any(p.default is p.empty for p in parameters.values()):
        return cls(PCA())
    return cls(max_epochs=3) if "max_epochs" in parameters else cls()


@pytest.mark.filterwarnings("ignore::skrep.exceptions.FewerColumnsWarning")
@pytest.mark.filterwarnings("ignore::skrep.exceptions.NotRemovedWarning")
@parametrize_with_invariances([made(cls) for _, cls in all_estimators()])
def test_claims_of_defaults_hold(estimator, claim):
    rows = make_rows(estimator)
    y = make_target(estimator, rows)
    if claim.group == "label_permutation":
        y = np.arange(len(rows)) % 3
    report = check_invariance(estimator, claim, rows, y, n_draws=1)
    assert report.holds, report


@parametrize_with_invariances([*RELATIVE, *GIVEN, *ALIGNED])
def test_claims_hold(estimator, claim):
    report = check_invariance(estimator, claim, X, target(estimator), n_draws=3)
    assert report.holds, report


@pytest.mark.parametrize("estimator", [*RELATIVE, *GIVEN], ids=shown)
def test_what_is_not_claimed_is_broken(estimator):
    claims = unclaimed(estimator)
    if estimator.anchors is None and estimator.selection == "uniform":
        # It holds while all rows differ: scaled copies of a row are no copies.
        claims = [claim for claim in claims if claim != Claim("row_scaling")]
    assert claims
    for claim in claims:
        report = check_invariance(estimator, claim, X, n_draws=8)
        assert not report.holds, report


@pytest.mark.parametrize("estimator", ALIGNED, ids=shown)
def test_what_an_alignment_does_not_claim_is_broken(estimator):
    claims = [c for c in unclaimed(estimator) if c.group != "label_permutation"]
    if estimator.method == "affine":
        # Least squares has it where pairs outnumber columns, so it is not claimed.
        claims = [c for c in claims if not Claim("invertible_affine").implies(c)]
    assert claims
    for claim in claims:
        report = check_invariance(estimator, claim, X, noisy_target())
        assert not report.holds, report
