"""What the discriminant projection claims holds, and what it does not is broken."""

import numpy as np
import pytest

from skrep.discriminant import LinearDiscriminantProjection
from skrep.invariance import Claim, check_invariance, unclaimed

RNG = np.random.default_rng(0)
NUMBERS = RNG.standard_normal(90)
CODES = np.digitize(NUMBERS, [-0.6, 0.3])
X = RNG.standard_normal((90, 5)) * [3, 1, 0.1, 20, 1] + [1, 0, 5, -30, 0]
X += RNG.standard_normal((3, 5))[CODES] * [3, 1, 0.1, 20, 1]
TARGETS = {"classes": np.array(list("bca"))[CODES], "numbers": NUMBERS}

VARIANTS = [
    LinearDiscriminantProjection(k, shrinkage=s, target_type=kind, n_slices=3)
    for k in (None, 4)
    for s in (0, 0.3, 1, "auto")
    for kind in ("classes", "numbers")
] + [LinearDiscriminantProjection(priors=p) for p in ("uniform", [0.2, 0.3, 0.5])]
each = pytest.mark.parametrize("estimator", VARIANTS, ids=repr)


def target(estimator):
    return TARGETS["numbers" if estimator.target_type == "numbers" else "classes"]


@each
def test_claims_hold(estimator):
    for claim in estimator.invariances():
        report = check_invariance(
            estimator, claim, X, target(estimator), tol=1e-6, n_draws=3
        )
        assert report.holds, report


@each
def test_what_is_not_claimed_is_broken(estimator):
    claims = unclaimed(estimator)
    assert Claim("row_scaling") in claims
    for claim in claims:
        if claim.group == "label_permutation" and estimator.target_type == "numbers":
            continue
        report = check_invariance(estimator, claim, X, target(estimator))
        assert not report.holds, report


def test_of_numbers_and_of_priors_in_order_nothing_is_claimed_about_labels():
    claim = Claim("label_permutation")
    assert claim in LinearDiscriminantProjection().invariances()
    assert claim in LinearDiscriminantProjection(priors="uniform").invariances()
    model = LinearDiscriminantProjection(target_type="numbers")
    assert claim not in model.invariances()
    model = LinearDiscriminantProjection(priors=[0.2, 0.3, 0.5])
    assert claim not in model.invariances()


@pytest.mark.parametrize("shrinkage", [0, 0.2])
def test_with_fewer_rows_than_columns_turning_turns_nothing_else(shrinkage):
    rows = RNG.standard_normal((20, 30)) + 1
    model = LinearDiscriminantProjection(6, shrinkage=shrinkage)
    claim = Claim("orthogonal", "up_to_sign")
    assert claim in model.invariances()
    labels = np.arange(20) % 3
    assert check_invariance(model, claim, rows, labels, tol=1e-5, n_draws=2).holds


def test_several_labels_are_like_classes():
    labels = np.column_stack([NUMBERS > 0, X[:, 0] > 1])
    for shrinkage in (0, "auto", 0.2):
        model = LinearDiscriminantProjection(shrinkage=shrinkage)
        for claim in model.invariances():
            if claim != Claim("label_permutation"):
                report = check_invariance(model, claim, X, labels, tol=1e-6, n_draws=2)
                assert report.holds, report
