"""Batches: every row once, every class in its share, and the seeds."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skrep.nn._batches import Batches, Rows, spread_classes
from tests.strategies import seeds


def as_rows(codes, weights=None):
    """Rows that hold their own positions."""
    numbers = torch.arange(len(codes))
    targets = torch.from_numpy(10 * codes)
    return Rows(lambda at: numbers[torch.from_numpy(at)], codes, targets, weights)


@st.composite
def classes(draw):
    """Codes of classes of very different sizes, some without rows."""
    counts = draw(st.lists(st.integers(0, 40), min_size=1, max_size=8))
    counts[0] += 1
    codes = np.repeat(np.arange(len(counts)), counts)
    return np.random.default_rng(draw(seeds)).permutation(codes)


@given(codes=classes(), size=st.integers(1, 60), seed=seeds)
@settings(max_examples=50)
def test_every_row_comes_once_and_left_over_ones_are_dealt(codes, size, seed):
    batches = list(Batches(as_rows(codes), size, np.random.default_rng(seed)))
    rows = np.concatenate([batch[0].numpy() for batch in batches])
    assert_array_equal(np.sort(rows), np.arange(len(codes)))
    lengths = [len(batch[0]) for batch in batches]
    assert max(lengths) - min(lengths) <= 1
    assert len(batches) == max(1, len(codes) // size)
    assert min(lengths) >= min(size, len(codes))


@given(codes=classes(), size=st.integers(1, 60), seed=seeds)
@settings(max_examples=50)
def test_every_batch_holds_the_classes_in_their_shares(codes, size, seed):
    """In a stretch, each class is less than one row off its share of the stretch.

    The stretch itself may be off by what all classes are together.
    """
    n, n_classes = len(codes), codes.max() + 1
    counts = np.bincount(codes)
    for rows, _, _ in Batches(as_rows(codes), size, np.random.default_rng(seed)):
        held = np.bincount(codes[rows.numpy()], minlength=n_classes)
        off = np.abs(held - len(rows) * counts / n)
        assert np.all(off < 1 + n_classes * counts / n + 1e-9)


@pytest.mark.parametrize("n_classes", [2, 10, 40])
def test_shares_vary_less_than_those_of_random_batches(n_classes):
    codes = np.random.default_rng(0).integers(0, n_classes, 2560)
    counts = np.bincount(codes)

    def unevenness(order):
        parts = np.array_split(codes[order], 20)
        held = np.stack([np.bincount(part, minlength=n_classes) for part in parts])
        return np.mean((held - counts / 20) ** 2)

    rng = np.random.default_rng(1)
    spread = unevenness(spread_classes(codes, rng))
    assert spread < 0.7
    assert spread < unevenness(rng.permutation(2560)) / 3


def test_rows_of_a_class_change_partners():
    codes = np.repeat([0, 1], 50)
    batches = Batches(as_rows(codes), 10, np.random.default_rng(0))
    together = np.zeros((100, 100))
    for _ in range(40):
        for rows, _, _ in batches:
            together[np.ix_(rows, rows)] += 1
    apart = together[~np.eye(100, dtype=bool)]
    # In each of 40 passes a row meets 9 of 99 others.
    assert apart.max() < 20
    assert np.mean(apart == 0) < 0.1


def test_a_class_of_one_row_comes_in_any_batch():
    codes = np.append(np.zeros(79, dtype=int), 1)
    batches = Batches(as_rows(codes), 20, np.random.default_rng(0))
    where = [
        next(i for i, batch in enumerate(batches) if 79 in batch[0]) for _ in range(80)
    ]
    assert np.bincount(where, minlength=4).min() > 8


def test_seeds():
    codes = np.arange(60) % 3

    def passes(seed):
        batches = Batches(as_rows(codes), 20, seed)
        return [[rows.tolist() for rows, _, _ in batches] for _ in range(2)]

    first = passes(np.random.default_rng(0))
    assert first == passes(np.random.default_rng(0))
    assert first != passes(np.random.default_rng(1))
    assert first[0] != first[1]
    fixed = passes(None)
    assert fixed[0] == fixed[1]


def test_targets_and_weights_go_with_their_rows():
    codes = np.random.default_rng(0).integers(0, 3, 50)
    weights = torch.arange(50) / 7
    for rows, targets, parts in Batches(as_rows(codes, weights), 8, None):
        assert_array_equal(targets, 10 * codes[rows.numpy()])
        assert_array_equal(parts, weights[rows])
    assert all(parts is None for _, _, parts in Batches(as_rows(codes), 8, None))


def test_rows_know_how_many_they_are():
    rows = as_rows(np.zeros(7, dtype=int))
    assert len(rows) == 7
    taken, targets, weights = rows.at(np.array([5, 2]))
    assert taken.tolist() == [5, 2]
    assert targets.tolist() == [0, 0]
    assert weights is None
