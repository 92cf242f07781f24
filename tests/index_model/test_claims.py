"""What index models claim holds, and what they do not claim is broken."""

import numpy as np
import pytest

from skrep.datasets import make_index_model
from skrep.index_model import (
    DirectionalRegression,
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
    SteinIndex,
)
from skrep.invariance import Claim, check_invariance, unclaimed

X, NUMBERS, _ = make_index_model(120, 4, links="ratio", design="ar1", random_state=0)
X = X * [3, 1, 0.1, 20] + [1, 0, 5, -30]
CLASSES = np.array(list("badc"))[
    np.digitize(NUMBERS, np.quantile(NUMBERS, [0.3, 0.6, 0.8]))
]
TARGETS = {
    "classes": CLASSES,
    "numbers": NUMBERS,
    "several": np.column_stack([NUMBERS, X[:, 0] ** 2]),
}

SLICED = (
    SlicedInverseRegression,
    SlicedAverageVarianceEstimation,
    DirectionalRegression,
)
SETTINGS = [("auto", "classes"), ("auto", "numbers"), ("raw", "several")]
VARIANTS = [
    *(
        (SteinIndex(order=order, response=response), kind)
        for order in (1, 2, "both")
        for response, kind in SETTINGS
    ),
    *((SteinIndex(response=name, shrinkage=0.2), kind) for name, kind in SETTINGS),
    (SteinIndex(response="slices", shrinkage=0), "numbers"),
    (SteinIndex(response="classes", shrinkage=0), "classes"),
    *(
        (cls(target_type=kind, shrinkage=shrinkage), kind)
        for cls in SLICED
        for kind in ("classes", "numbers")
        for shrinkage in ("auto", 0.2)
    ),
    (PrincipalHessianDirections(), "numbers"),
    (PrincipalHessianDirections(shrinkage=0.2), "numbers"),
]
each = pytest.mark.parametrize(
    ("estimator", "kind"), VARIANTS, ids=[f"{one!r} {kind}" for one, kind in VARIANTS]
)
LABELS = Claim("label_permutation")


@each
def test_claims_hold(estimator, kind):
    for claim in estimator.invariances():
        if claim == LABELS and kind == "numbers":
            continue
        report = check_invariance(
            estimator, claim, X, TARGETS[kind], tol=1e-6, n_draws=3
        )
        assert report.holds, report


@each
def test_claims_hold_of_weighted_rows(estimator, kind):
    weights = {"sample_weight": np.random.default_rng(0).uniform(0.2, 2, len(X))}
    claim = Claim("row_permutation", "same_action")
    report = check_invariance(
        estimator, claim, X, TARGETS[kind], tol=1e-6, n_draws=2, fit_params=weights
    )
    assert report.holds, report


@each
def test_what_is_not_claimed_is_broken(estimator, kind):
    claims = unclaimed(estimator)
    assert Claim("sign_flip") in claims
    for claim in claims:
        y = np.arange(len(X)) * 7 % 60 if claim == LABELS else TARGETS[kind]
        report = check_invariance(estimator, claim, X, y, n_draws=4)
        assert not report.holds, report


@pytest.mark.parametrize("estimator", [SteinIndex(order=1), SlicedInverseRegression()])
def test_a_ridge_knows_of_linear_maps(estimator):
    affine = Claim("invertible_affine", "up_to_sign")
    assert affine in estimator.invariances()
    ridged = estimator.set_params(shrinkage=0.2)
    assert not any(claim.implies(affine) for claim in ridged.invariances())
    for relation in ("up_to_sign", "same_span"):
        claim = Claim("orthogonal", relation)
        ridged.set_params(n_components=1)
        assert not check_invariance(ridged, claim, X, NUMBERS).holds


def test_names_of_classes_are_claimed_where_there_may_be_classes():
    for response in ("auto", "classes"):
        assert LABELS in SteinIndex(response=response).invariances()
    for response in ("raw", "slices"):
        assert LABELS not in SteinIndex(response=response).invariances()
    for cls in SLICED:
        assert LABELS not in cls(target_type="numbers").invariances()
        assert LABELS in cls().invariances()
    assert LABELS not in PrincipalHessianDirections().invariances()
