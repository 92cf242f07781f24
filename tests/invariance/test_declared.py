"""Declared claims: one test each, a table, and what is left unclaimed."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.datasets import load_iris
from sklearn.decomposition import NMF, PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.manifold import MDS
from sklearn.preprocessing import Normalizer, StandardScaler

from skrep.invariance import (
    GROUPS,
    Claim,
    check_invariance,
    invariance_table,
    parametrize_with_invariances,
    unclaimed,
)

X, _ = load_iris(return_X_y=True)


class Centering(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Subtract the mean, and divide by the overall spread if asked to."""

    def __init__(self, scale=False):
        self.scale = scale

    def fit(self, X, y=None):
        self.mean_ = np.mean(X, axis=0)
        self.scale_ = np.std(X - self.mean_) if self.scale else 1.0
        return self

    def transform(self, X):
        return (X - self.mean_) / self.scale_

    def invariances(self):
        claims = [
            Claim("translation"),
            Claim("orthogonal", "same_action"),
            Claim("row_permutation", "same_action"),
        ]
        return [*claims, Claim("positive_scaling")] if self.scale else claims


SCALER = (
    StandardScaler(),
    [
        Claim("translation"),
        Claim("column_scaling"),
        Claim("row_permutation", "same_action"),
    ],
)
ALL = [Centering(), Centering(scale=True), SCALER]


@parametrize_with_invariances(ALL)
def test_declared_claims_hold(estimator, claim):
    report = check_invariance(estimator, claim, X)
    assert report.holds, report


@pytest.mark.parametrize("item", ALL, ids=["plain", "scaled", "standard"])
def test_unclaimed_groups_are_broken(item):
    estimator = item[0] if isinstance(item, tuple) else item
    left = unclaimed(item)
    assert left
    for claim in left:
        assert not check_invariance(estimator, claim, X).holds, claim


def test_unclaimed_follows_the_current_parameters():
    difference = set(unclaimed(Centering())) - set(unclaimed(Centering(scale=True)))
    assert difference == {Claim("positive_scaling")}


def test_unclaimed_leaves_out_what_follows():
    left = unclaimed((PCA(), [Claim("invertible_affine")]))
    assert left == [Claim("row_scaling"), Claim("row_permutation", "same_action")]
    weak = unclaimed((PCA(), [Claim("invertible_affine", "same_span")]))
    assert Claim("rotation") in weak


@pytest.mark.parametrize(
    ("estimator", "there", "not_there"),
    [
        (PCA(), "rotation", "label_permutation"),
        (PCA(), "rotation", "tree_relabelling"),
        (LinearDiscriminantAnalysis(), "label_permutation", "tree_relabelling"),
        (LinearRegression(), "sign_flip", "label_permutation"),
        (NMF(), "column_scaling", "sign_flip"),
        (NMF(), "positive_scaling", "translation"),
        (MDS(metric="precomputed"), "tree_relabelling", "rotation"),
    ],
)
def test_unclaimed_asks_only_for_groups_that_can_act(estimator, there, not_there):
    groups = [claim.group for claim in unclaimed((estimator, []))]
    assert there in groups
    assert not_there not in groups


def test_unclaimed_takes_the_groups_asked_for():
    assert unclaimed((PCA(), []), groups=["label_permutation"]) == [
        Claim("label_permutation")
    ]
    assert len(unclaimed((PCA(), []), groups=GROUPS)) == len(GROUPS)


def cases_of(decorator):
    return decorator.mark.args[1]


def test_one_test_per_claim_with_names():
    cases = cases_of(parametrize_with_invariances([Centering(scale=True), SCALER]))
    names = [case.id for case in cases]
    assert len(names) == 7
    assert names[0] == "Centering(scale=True)-unchanged under translation"
    named = cases_of(parametrize_with_invariances(ALL, ids=["a", "b", "c"]))
    assert [case.id for case in named][-1] == "c-same_action under row_permutation"


def test_bad_lists_of_estimators():
    with pytest.raises(TypeError, match="PCA: has no method 'invariances'"):
        parametrize_with_invariances([PCA()])
    with pytest.raises(ValueError, match="nothing to test"):
        parametrize_with_invariances([(PCA(), [])])
    with pytest.raises(ValueError, match="'ids' has 1 entries for 3"):
        parametrize_with_invariances(ALL, ids=["a"])


def test_the_text_table():
    once = (Normalizer(), [Claim("row_scaling", refit=False)])
    lines = invariance_table([*ALL, once]).splitlines()
    head = lines[0].split()
    assert "label_permutation" not in head
    assert lines[2].startswith("Centering(scale=True)")
    # Rotations and sign flips follow from the claim on orthogonal maps.
    assert head[1:] == [group for group in GROUPS if group in head]
    assert "rotation" in head
    column = lines[0].index("rotation")
    assert lines[1][column:].startswith("same_action")
    assert not lines[3][column:].startswith("same_action")
    assert "unchanged (fitted once)" in lines[4]


def test_the_rst_table_has_equal_rows():
    lines = invariance_table(ALL, format="rst").splitlines()
    assert lines[0] == ".. list-table::"
    starts = [i for i, line in enumerate(lines) if line.startswith("   * - ")]
    assert len(starts) == 4
    assert {b - a for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)} == {
        starts[1] - starts[0]
    }
    assert lines[starts[2]] == "   * - ``Centering(scale=True)``"
    with pytest.raises(ValueError, match="'format' is 'html'"):
        invariance_table(ALL, format="html")
