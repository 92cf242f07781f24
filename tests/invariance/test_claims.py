"""Claims: names, errors, and what follows from what."""

import itertools
import subprocess
import sys

import pytest

from skrep._claims import strict_relation
from skrep.invariance import GROUPS, RELATIONS, Claim

EVERY = [
    Claim(group, relation, refit=refit)
    for group, relation, refit in itertools.product(GROUPS, RELATIONS, (True, False))
    if refit or group != "label_permutation"
]


@pytest.mark.parametrize(
    ("arguments", "name", "allowed"),
    [(("scaling",), "group", GROUPS), (("rotation", "same"), "relation", RELATIONS)],
)
def test_a_bad_name_gives_one_error_with_the_allowed_ones(arguments, name, allowed):
    with pytest.raises(ValueError, match=f"Claim: '{name}'") as caught:
        Claim(*arguments)
    assert all(word in str(caught.value) for word in allowed)


def test_a_claim_that_cannot_be_broken_is_refused():
    with pytest.raises(ValueError, match="could never be broken"):
        Claim("label_permutation", refit=False)


def test_claims_are_values():
    assert Claim("rotation") == Claim("rotation", "unchanged", refit=True)
    assert len({Claim("rotation"), Claim("rotation"), Claim("rotation", refit=False)})
    with pytest.raises(AttributeError):
        Claim("rotation").group = "translation"
    with pytest.raises(TypeError):
        Claim("rotation", "unchanged", False)


def test_implication_is_a_partial_order():
    follows = {(a, b) for a, b in itertools.product(EVERY, repeat=2) if a.implies(b)}
    assert {(a, a) for a in EVERY} <= follows
    assert not {(a, b) for a, b in follows if a != b and (b, a) in follows}
    after = {a: [b for b in EVERY if (a, b) in follows] for a in EVERY}
    for a, b in follows:
        assert {(a, c) for c in after[b]} <= follows, (a, b)


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        (("invertible_affine",), ("translation",)),
        (("invertible_affine",), ("invertible_linear",)),
        (("invertible_linear",), ("orthogonal",)),
        (("invertible_affine",), ("column_scaling", "same_span")),
        (("orthogonal", "up_to_sign"), ("column_permutation", "same_distances")),
        (("row_scaling",), ("positive_scaling",)),
        (("orthogonal", "same_action"), ("rotation", "up_to_orthogonal")),
        (("translation", "same_action"), ("translation", "same_distances")),
        (("row_permutation", "same_action"), ("row_permutation", "up_to_sign")),
    ],
)
def test_what_follows(stronger, weaker):
    assert Claim(*stronger).implies(Claim(*weaker))
    assert not Claim(*weaker).implies(Claim(*stronger))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Claim("rotation"), Claim("sign_flip")),
        (Claim("translation"), Claim("positive_scaling")),
        (Claim("column_scaling"), Claim("row_scaling")),
        (Claim("rotation"), Claim("rotation", refit=False)),
        (Claim("row_permutation"), Claim("row_permutation", "same_action")),
        (Claim("positive_scaling", "same_action"), Claim("positive_scaling")),
    ],
)
def test_what_does_not_follow(one, other):
    assert not one.implies(other)


def test_samples_that_move_take_their_outputs_along():
    moving = {group for group in GROUPS if strict_relation(group) == "same_action"}
    assert moving == {"row_permutation", "tree_relabelling"}


@pytest.mark.parametrize(
    ("first", "module"),
    # Where pandas is installed, scikit-learn imports it itself.
    [("sys", "skrep._claims"), ("sklearn.utils", "skrep.invariance")],
)
def test_nothing_heavy_is_imported(first, module):
    code = (
        f"import sys, {first}; before = set(sys.modules); import {module};"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'polars', 'pytest', 'torch'};"
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
