"""Deviations: zero where the relation holds, large where it does not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrep.invariance import GROUPS, RELATIONS, Claim
from skrep.invariance._groups import draw_element
from skrep.invariance._relations import deviation

seeds = st.integers(0, 2**31 - 1)


def law(**strategies):
    """Hold a law for 50 examples, without a time limit that a busy machine breaks."""
    return lambda test: settings(max_examples=50, deadline=None)(
        given(**strategies)(test)
    )


CHAIN = [
    "unchanged",
    "up_to_sign",
    "up_to_orthogonal",
    "same_distances",
    "same_span",
]
# What each relation of the chain overlooks and the one before it sees.
OVERLOOKS = {
    "unchanged": lambda Z, rng: Z.copy(),
    "up_to_sign": lambda Z, rng: Z * [1.0, -1.0, -1.0],
    "up_to_orthogonal": lambda Z, rng: Z @ np.linalg.qr(rng.normal(size=(3, 3)))[0],
    "same_distances": lambda Z, rng: Z + np.array([5.0, -3.0, 2.0]),
    "same_span": lambda Z, rng: Z @ (rng.normal(size=(3, 3)) + 3 * np.eye(3)),
}


def draw(group, X, y=None, seed=0):
    return draw_element(group, X, y, np.random.RandomState(seed))


ELEMENT = draw("translation", np.ones((2, 2)))


@pytest.mark.parametrize("relation", [r for r in RELATIONS if r != "same_action"])
@law(seed=seeds)
def test_equal_outputs_do_not_deviate(relation, seed):
    Z = np.random.default_rng(seed).normal(size=(20, 3))
    assert deviation(relation, Z, Z.copy(), ELEMENT) < 1e-12


@pytest.mark.parametrize("change", CHAIN)
@law(seed=seeds)
def test_each_relation_overlooks_its_own_and_no_more(change, seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(20, 3))
    changed = OVERLOOKS[change](Z, rng)
    for position, relation in enumerate(CHAIN):
        found = deviation(relation, Z, changed, ELEMENT)
        if position >= CHAIN.index(change):
            assert found < 1e-8, relation
        else:
            assert found > 1e-3, relation


@pytest.mark.parametrize("relation", RELATIONS)
@law(seed=seeds)
def test_a_changed_sample_is_seen_by_every_relation(relation, seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(20, 3))
    element = draw("positive_scaling", Z, seed=seed)
    changed = element.apply_output(Z) if relation == "same_action" else Z.copy()
    changed[0] += 1.0 + rng.random(3)
    assert deviation(relation, Z, changed, element) > 1e-3


@law(seed=seeds)
def test_same_action_asks_for_the_action(seed):
    Z = np.random.default_rng(seed).normal(size=(20, 3))
    for group in ("orthogonal", "translation", "column_permutation", "row_permutation"):
        element = draw(group, Z, seed=seed)
        acted = element.apply_output(Z)
        assert deviation("same_action", Z, acted, element) == 0.0
        assert deviation("same_action", Z, Z, element) > 1e-3


@pytest.mark.parametrize("group", sorted(set(GROUPS) - {"label_permutation"}))
def test_an_output_acted_upon_answers_what_its_claim_implies_and_no_more(group):
    Z = np.random.default_rng(1).normal(size=(20, 20)) + 1.0
    Z = Z if group == "tree_relabelling" else Z[:, :3]
    elements = [draw(group, Z, seed=seed) for seed in range(8)]
    for relation in CHAIN[1:]:
        if group == "tree_relabelling" and relation == "same_span":
            continue
        found = max(deviation(relation, Z, e.apply_output(Z), e) for e in elements)
        implied = Claim(group, "same_action").implies(Claim(group, relation))
        assert found < 1e-8 if implied else found > 1e-3, relation


@pytest.mark.parametrize("relation", CHAIN[1:])
@law(seed=seeds)
def test_moved_samples_are_compared_with_themselves(relation, seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(20, 3))
    element = draw("row_permutation", Z, seed=seed)
    moved = element.apply_output(OVERLOOKS[relation](Z, rng))
    assert deviation(relation, Z, moved, element) < 1e-8
    assert deviation(relation, Z, np.roll(moved, 1, axis=0), element) > 1e-3


def test_a_deviation_is_the_largest_difference_over_the_rms():
    Z = np.array([[3.0, -3.0], [3.0, 3.0]])
    changed = Z + np.array([[0.0, 0.6], [0.0, 0.3]])
    assert deviation("unchanged", Z, changed, ELEMENT) == pytest.approx(0.2)
    assert deviation("unchanged", 1e9 * Z, 1e9 * changed, ELEMENT) == pytest.approx(0.2)


def test_the_angle_between_spans_is_in_radians():
    Z = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    one, turned = Z[:, :1], Z @ [[np.cos(0.3)], [np.sin(0.3)]]
    assert deviation("same_span", one, turned, ELEMENT) == pytest.approx(0.3)
    assert deviation("same_span", one, Z, ELEMENT) == pytest.approx(np.pi / 2)


def test_constant_columns_span_nothing():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(20, 2))
    padded = np.column_stack([Z, np.full(20, 0.1)])
    assert deviation("same_span", Z, padded, ELEMENT) < 1e-12
    constant = np.full((20, 1), 0.1)
    assert deviation("same_span", constant, 7.0 * constant, ELEMENT) == 0.0


def test_a_span_of_everything_says_nothing():
    Z = np.random.default_rng(0).normal(size=(4, 5))
    with pytest.raises(ValueError, match="Pass more rows"):
        deviation("same_span", Z, Z[::-1], ELEMENT)


@pytest.mark.parametrize("relation", RELATIONS)
def test_another_number_of_rows_deviates(relation):
    Z = np.random.default_rng(0).normal(size=(9, 2))
    element = draw("positive_scaling", Z)
    assert deviation(relation, Z, Z[:-1], element) == np.inf


@pytest.mark.parametrize("relation", CHAIN)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_new_nan_is_a_deviation(relation, bad):
    Z = np.random.default_rng(0).normal(size=(9, 2))
    broken = Z.copy()
    broken[3, 1] = bad
    assert deviation(relation, Z, broken, ELEMENT) == np.inf


def test_missing_entries_may_stay_where_they_are():
    Z = np.array([[1.0, np.nan], [np.inf, 2.0]])
    assert deviation("unchanged", Z, Z.copy(), ELEMENT) == 0.0
    assert deviation("unchanged", Z, Z[::-1], ELEMENT) == np.inf


def test_zero_outputs():
    Z = np.zeros((9, 2))
    for relation in CHAIN:
        assert deviation(relation, Z, Z, ELEMENT) == 0.0
    assert deviation("unchanged", Z, Z + 1e-300, ELEMENT) == np.inf


@pytest.mark.parametrize("words", [np.array(["a", "b", "c", "d"]), np.arange(4)])
def test_labels_deviate_by_the_share_that_differ(words):
    changed = words[[0, 1, 2, 0]]
    assert deviation("unchanged", words, changed, ELEMENT) == 0.25


def test_words_have_no_distances():
    words = np.array(["a", "b"])
    with pytest.raises(TypeError, match="compares numbers"):
        deviation("same_distances", words, words, ELEMENT)
