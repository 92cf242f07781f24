"""Learned anchors: what is computed, what training gains, and what is refused."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.callback import ScoringMonitor
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from skorch.callbacks import Callback

from skrep.datasets import make_parallel_spaces
from skrep.exceptions import FewerColumnsWarning
from skrep.invariance import check_invariance, unclaimed
from skrep.metrics import mean_reciprocal_rank
from skrep.relative import LearnedAnchors, RelativeRepresentation
from skrep.relative._learned_matching import grow_matches, mutual_matches
from skrep.relative._token_sets import RowSets
from tests.strategies import seeds


def spaces(n=60, d=8, e=6, noise=0.3, seed=0):
    """Rows of two spaces that share a hidden one."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 5))
    X = hidden @ rng.normal(size=(5, d)) + noise * rng.normal(size=(n, d)) + 1
    Y = hidden @ rng.normal(size=(5, e)) + noise * rng.normal(size=(n, e)) - 2
    return X, Y


def token_sets(rows, seed=0, spread=0.2, most=4):
    """Sets of one to `most` tokens around each row."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most + 1, size=len(rows))
    return [
        row + spread * rng.normal(size=(size, len(row)))
        for row, size in zip(rows, sizes, strict=True)
    ]


def anchored(n_anchors=8, **params):
    return LearnedAnchors(n_anchors, **{"max_epochs": 3, "random_state": 0, **params})


def described(model, sets, pooling):
    """What a row becomes, by loops over tokens and anchors."""
    A = model.anchors_ - model.mean_
    A = A / np.linalg.norm(A, axis=1)[:, None]
    root = np.linalg.inv(scipy.linalg.sqrtm(A @ A.T + np.eye(len(A))).real)
    out = []
    for row in sets:
        similarities = [
            [(t - model.mean_) @ a / np.linalg.norm(t - model.mean_) for t in row]
            for a in A
        ]
        pool = {"max": max, "mean": np.mean}[pooling]
        r = np.array([pool(one) for one in similarities]) @ root
        out.append(r / np.linalg.norm(r))
    return np.array(out)


def score(model, X, Y):
    return mean_reciprocal_rank(model.transform(X), model.y_transformer_.transform(Y))


# --- what is computed --------------------------------------------------------------


@pytest.mark.parametrize("n_anchors", [4, 12])
def test_rows_against_loops(n_anchors):
    X, Y = spaces()
    model = anchored(n_anchors).fit(X, Y)
    for one, rows in ((model, X), (model.y_transformer_, Y)):
        expected = described(one, rows[:, None], "max")
        assert_allclose(one.transform(rows), expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("pooling", ["max", "mean"])
def test_sets_against_loops(pooling):
    X, Y = spaces()
    X, Y = token_sets(X), token_sets(Y, seed=1)
    model = anchored(pooling=pooling).fit(X, Y)
    for one, rows in ((model, X), (model.y_transformer_, Y)):
        expected = described(one, rows, pooling)
        assert_allclose(one.transform(rows), expected, rtol=1e-8, atol=1e-10)
        assert_allclose(one.transform(rows[:1]), expected[:1], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("pooling", ["max", "mean"])
def test_centers_are_means_of_rows_however_many_tokens_they_have(pooling):
    X, Y = spaces()
    sets = token_sets(X)
    model = anchored(pooling=pooling).fit(sets, Y, unpaired_X=X[:5] + 3)
    means = [row.mean(axis=0) for row in sets]
    assert_allclose(model.mean_, np.mean([*means, *(X[:5] + 3)], axis=0))
    assert_allclose(model.y_transformer_.mean_, Y.mean(axis=0))


@pytest.mark.parametrize("pooling", ["max", "mean"])
def test_a_set_of_one_token_is_the_row(pooling):
    X, Y = spaces()
    plain = anchored(pooling=pooling).fit(X, Y)
    sets = anchored(pooling=pooling).fit(list(X[:, None]), list(Y[:, None]))
    assert_array_equal(plain.anchors_, sets.anchors_)
    assert_array_equal(plain.transform(X), plain.transform(list(X[:, None])))
    assert_array_equal(plain.transform(X), plain.transform(X[:, None]))
    mixed = [*X[:3, None], np.vstack([X[3], X[3]])]
    assert_allclose(plain.transform(mixed), plain.transform(X[:4]), rtol=1e-10)


def test_mixed_sides():
    X, Y = make_parallel_spaces(60, 8, relation="similarity", random_state=0)
    sets = np.empty(len(X), dtype=object)
    sets[:] = token_sets(X, spread=0.01)
    model = anchored(40, max_epochs=20).fit(sets, Y)
    assert score(model, sets, Y) > 0.9
    assert anchored(pooling="mean").fit(X, Y[:, 0].tolist()).n_anchors_ == 8
    assert anchored(pooling="mean").fit(sets, Y[:, 0]).n_anchors_ == 8


def test_anchors_start_at_rows_that_pair():
    X, Y = spaces()
    model = anchored(60, max_epochs=1, lr=1e-12).fit(X, Y)
    relative = [RelativeRepresentation(anchors=side, scale=False) for side in (X, Y)]
    for one, other, rows in zip(
        (model, model.y_transformer_), relative, (X, Y), strict=True
    ):
        ours, theirs = one.transform(rows), other.fit(rows).transform(rows)
        theirs = theirs / np.linalg.norm(theirs, axis=1)[:, None]
        assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-8)


def test_a_row_at_the_center_is_zero():
    X, Y = spaces()
    model = anchored().fit(X, Y)
    assert not model.transform(model.mean_[None]).any()
    assert not model.transform([np.vstack([model.mean_, model.mean_])]).any()


# --- what training gains -----------------------------------------------------------


def test_training_finds_more_partners_than_its_start():
    X, Y = spaces(400, 30, 30, noise=0.8)
    pairs, rest = slice(0, 200), slice(200, None)
    start = anchored(16, max_epochs=1, lr=1e-12).fit(X[pairs], Y[pairs])
    model = anchored(16, max_epochs=60, lr=3e-3).fit(X[pairs], Y[pairs])
    assert score(model, X[rest], Y[rest]) > score(start, X[rest], Y[rest]) + 0.05
    losses = [row["train_loss"] for row in model.history_]
    assert np.mean(losses[-10:]) < np.mean(losses[:10])


def test_unpaired_rows_find_partners():
    X, Y = spaces(700, 40, 40, noise=0.5)
    pairs, rest, test = slice(0, 12), np.arange(12, 400), slice(400, None)
    shuffled = np.random.default_rng(1).permutation(rest)
    few = anchored(64, max_epochs=20)
    with pytest.warns(FewerColumnsWarning, match="n_anchors=12"):
        few.fit(X[pairs], Y[pairs])
    assert few.n_matched_ == 0
    more = anchored(64, max_epochs=20)
    more.fit(X[pairs], Y[pairs], unpaired_X=X[rest], unpaired_y=Y[shuffled])
    assert more.n_matched_ > 200
    assert score(more, X[test], Y[test]) > score(few, X[test], Y[test]) + 0.08


def test_unpaired_rows_of_one_side_place_its_center():
    X, Y = spaces()
    model = anchored().fit(X[:20], Y[:20], unpaired_y=Y[20:])
    assert_allclose(model.y_transformer_.mean_, Y.mean(axis=0))
    assert_allclose(model.mean_, X[:20].mean(axis=0))
    assert model.n_matched_ == 0


@settings(max_examples=25, deadline=None)
@given(seed=seeds, n=st.integers(1, 14), m=st.integers(1, 14))
def test_mutual_matches_against_loops(seed, n, m):
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(n, 4)), rng.normal(size=(m, 4))
    A, B = (Z / np.linalg.norm(Z, axis=1)[:, None] for Z in (A, B))
    cosines = A @ B.T
    to_b = [np.mean(sorted(row)[-10:]) for row in cosines]
    to_a = [np.mean(sorted(row)[-10:]) for row in cosines.T]
    c = [[2 * cosines[i, j] - to_b[i] - to_a[j] for j in range(m)] for i in range(n)]
    c = np.array(c)
    expected = {
        (i, j): c[i, j]
        for i in range(n)
        for j in range(m)
        if c[i, j] == c[i].max() and c[i, j] == c[:, j].max()
    }
    rows, others = mutual_matches(A, B)
    found = list(zip(rows.tolist(), others.tolist(), strict=True))
    assert set(found) == set(expected)
    assert (np.diff([expected[pair] for pair in found]) <= 1e-5).all()


def test_matches_grow_from_pairs():
    X, Y = spaces(300, 20, 20, noise=0.01)
    sides = [Z - Z.mean(axis=0) for Z in (X, Y)]
    sides = [Z / np.linalg.norm(Z, axis=1)[:, None] for Z in sides]
    ones = np.ones(300, dtype=int)
    x, y = (RowSets(Z, ones) for Z in sides)
    known, rest = np.arange(10), np.arange(10, 300)
    shuffled = np.random.default_rng(0).permutation(rest)
    rows, others = grow_matches(
        (x.at(known), y.at(known)), (x.at(rest), y.at(shuffled)), "max"
    )
    assert len(rows) > 200
    assert np.mean(rest[rows] == shuffled[others]) > 0.8


def test_many_unpaired_rows_are_drawn_from(monkeypatch):
    monkeypatch.setattr("skrep.relative._learned_pairs.MAX_UNPAIRED", 15)
    X, Y = spaces()
    given_rows = {"unpaired_X": X[20:], "unpaired_y": Y[20:]}
    model = anchored(4).fit(X[:20], Y[:20], **given_rows)
    assert 0 < model.n_matched_ <= 15
    assert_allclose(model.mean_, X.mean(axis=0))


# --- weights, repeated rows, order -------------------------------------------------


@settings(max_examples=5, deadline=None)
@given(seed=seeds)
def test_weights_count_pairs(seed):
    X, Y = spaces()
    weights = np.random.default_rng(seed).integers(0, 3, size=60)
    rows = np.repeat(np.arange(60), weights)
    one = anchored(batch_size=10).fit(X, Y, sample_weight=weights)
    other = anchored(batch_size=10).fit(X[rows], Y[rows])
    assert_allclose(one.transform(X), other.transform(X), atol=1e-9)
    assert_allclose(one.y_transformer_.mean_, other.y_transformer_.mean_)


def test_weights_matter_and_their_sum_does_not():
    X, Y = spaces()
    weights = np.linspace(0.1, 3, 60)
    models = [anchored().fit(X, Y, w) for w in (None, weights, 5 * weights)]
    plain, one, other = (model.transform(X) for model in models)
    assert_allclose(one, other, atol=1e-8)
    assert np.abs(one - plain).max() > 1e-4


def test_the_order_of_pairs_does_not_matter():
    X, Y = spaces()
    order = np.random.default_rng(0).permutation(60)
    one, other = anchored().fit(X, Y), anchored().fit(X[order], Y[order])
    assert_allclose(one.transform(X), other.transform(X), atol=1e-9)


def test_token_order_of_a_set_changes_no_description():
    X, Y = spaces()
    sets = token_sets(X)
    model = anchored().fit(sets, Y)
    turned = [row[::-1] for row in sets]
    assert_allclose(model.transform(turned), model.transform(sets), atol=1e-12)


def test_claims_hold_and_others_are_broken():
    X, Y = spaces()
    model = anchored(max_epochs=2)
    for claim in model.invariances():
        assert check_invariance(model, claim, X, Y, n_draws=2).holds, claim
    broken = [c for c in unclaimed(model) if c.group != "label_permutation"]
    assert broken
    for claim in broken:
        assert not check_invariance(model, claim, X, Y).holds, claim


# --- the cases of training ---------------------------------------------------------


def test_a_batch_larger_than_the_pairs_is_one_batch():
    X, Y = spaces()
    one, other = (anchored(batch_size=size).fit(X, Y) for size in (60, 10_000))
    assert_array_equal(one.transform(X), other.transform(X))


def test_batches_are_dealt_evenly():
    X, Y = spaces()
    sizes = []

    class Sizes(Callback):
        def on_batch_end(self, net, batch=None, training=False, **_):
            sizes.append(len(batch[0]))

    anchored(max_epochs=1, batch_size=25, callbacks=[Sizes()]).fit(X, Y)
    assert sizes == [30, 30]


def test_held_out_pairs_end_training():
    X, Y = spaces(200)
    model = anchored(validation_fraction=0.2, max_epochs=300, lr=0.05).fit(X, Y)
    losses = [row["valid_loss"] for row in model.history_]
    assert model.n_iter_ == len(losses) < 300
    assert model.best_loss_ == min(losses)
    assert np.argmin(losses) == len(losses) - 11
    assert anchored().fit(X, Y).best_loss_ is None


def test_held_out_pairs_are_no_anchors():
    X, Y = spaces()
    with pytest.warns(FewerColumnsWarning, match="set n_anchors=48 or fewer"):
        anchored(60, validation_fraction=0.2).fit(X, Y)


class Interrupt(Callback):
    def on_batch_end(self, net, **_):
        raise KeyboardInterrupt


@pytest.mark.parametrize("fitted", [False, True])
def test_an_interrupted_fit_leaves_what_was_there(fitted):
    X, Y = spaces()
    model = anchored()
    if fitted:
        model.fit(X, Y)
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.set_params(callbacks=[Interrupt()]).fit(np.hstack([X, X]), Y)
    assert {**before, "callbacks": model.callbacks} == vars(model)


def test_callbacks_of_scikit_learn():
    X, Y = spaces()
    seen = []

    def partners(model, X, y, **_):
        seen.append(score(model, X, y))
        return seen[-1]

    monitor = ScoringMonitor(scoring={"partners": partners})
    model = anchored(max_epochs=4).set_callbacks(monitor).fit(X, Y)
    assert len(seen) >= 4
    assert seen[-1] == score(model, X, Y)
    short = anchored(max_epochs=1).fit(X, Y)
    assert seen[0] == pytest.approx(score(short, X, Y))


def test_nested_parameters():
    model = anchored().set_params(optimizer__betas=(0.8, 0.9))
    assert model.optimizer_params == {"betas": (0.8, 0.9)}
    X, Y = spaces()
    assert model.fit(X, Y).n_iter_ == 3
    for key in ("optimizer__gamma", "hidden", "module__dropout"):
        with pytest.raises(ValueError, match="parameter"):
            anchored().set_params(**{key: 1})


def test_float32_stays_on_both_sides():
    X, Y = (Z.astype(np.float32) for Z in spaces())
    model = anchored().fit(X, Y)
    for one, rows in ((model, X), (model.y_transformer_, Y)):
        found = (one.anchors_, one.mean_, one.transform(rows), *one._space)
        assert {part.dtype for part in found} == {np.dtype(np.float32)}
    sets = [row.astype(np.float32) for row in token_sets(X)]
    assert anchored().fit(sets, Y).transform(sets).dtype == np.float32


def test_equal_seeds_give_equal_bits():
    X, Y = spaces()
    more = {"unpaired_X": X[40:], "unpaired_y": Y[30:]}
    models = [anchored(4, batch_size=10).fit(X[:30], Y[:30], **more) for _ in range(2)]
    models.append(
        anchored(4, batch_size=10, random_state=1).fit(X[:30], Y[:30], **more)
    )
    one, other, third = (model.transform(X) for model in models)
    assert_array_equal(one, other)
    assert np.abs(one - third).max() > 1e-6


@pytest.mark.parametrize("scale", [1e-150, 1e-4, 1e4, 1e150])
def test_units_do_not_matter(scale):
    X, Y = spaces()
    one = anchored().fit(X, Y).transform(X)
    other = anchored().fit(scale * X, Y).transform(scale * X)
    assert_allclose(one, other, atol=1e-8)


# --- what is left after fit --------------------------------------------------------


def test_the_other_side_is_a_transformer_of_its_own():
    X, Y = spaces()
    table = pd.DataFrame(Y, columns=[f"y{j}" for j in range(6)])
    model = anchored(callbacks=[Callback()]).fit(X, table)
    other = model.y_transformer_
    assert other.n_features_in_ == 6
    assert list(other.feature_names_in_) == list(table.columns)
    assert list(other.get_feature_names_out()) == list(model.get_feature_names_out())
    assert other.callbacks is None
    assert not hasattr(other, "y_transformer_")
    with pytest.raises(ValueError, match="feature names"):
        other.transform(table[table.columns[::-1]])
    labels = X[:, 0] > 1
    head = LogisticRegression(C=100).fit(model.transform(X), labels)
    served = make_pipeline(FrozenEstimator(other), head)
    direct = head.predict(other.transform(table))
    assert_array_equal(served.predict(table), direct)
    again = clone(served).fit(table, labels)
    assert_array_equal(again[0].transform(table), other.transform(table))


def test_in_a_pipeline():
    X, Y = spaces()
    pipeline = make_pipeline(PCA(4), anchored()).fit(X, Y)
    assert pipeline.transform(X).shape == (60, 8)
    assert pipeline[-1].n_features_in_ == 4
    frame = anchored().set_output(transform="pandas").fit(X, Y).transform(X)
    assert list(frame.columns) == [f"learnedanchors{j}" for j in range(8)]


def test_copies_say_the_same():
    X, Y = spaces()
    model = anchored().fit(X, Y)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_array_equal(model.transform(X), other.transform(X))
        mine, its = model.y_transformer_, other.y_transformer_
        assert_array_equal(mine.transform(Y), its.transform(Y))


def test_without_torch(tmp_path):
    X, Y = spaces()
    model = anchored().fit(token_sets(X), Y)
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
    code = """
import pickle, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "skorch"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import numpy as np
from sklearn.base import clone
from skrep.relative import LearnedAnchors
model = LearnedAnchors(optimizer_params={"eps": 1e-7})
repr(clone(model)), model.get_params(), model._repr_html_()
try:
    model.fit(np.eye(4), np.eye(4))
except ImportError as error:
    assert "pip install 'skrep[torch]'" in str(error), error
    assert "LearnedAnchors.fit" in str(error), error
else:
    raise AssertionError
model = pickle.load(open(sys.argv[1], "rb"))
rows = [np.zeros((2, 8)), np.ones((1, 8))]
print(model.transform(rows).shape, model.y_transformer_.transform(np.eye(6)).shape)
"""
    command = [sys.executable, "-c", code, str(tmp_path / "model.pickle")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "(2, 8) (6, 8)\n", done.stderr


# --- what is refused ---------------------------------------------------------------


def emptied(sets):
    return [*sets[:3], sets[3][:0], *sets[4:]]


def widened(sets):
    return [*sets[:3], np.hstack([sets[3], sets[3]]), *sets[4:]]


def flat(sets):
    return [*sets[:3], sets[3][0], *sets[4:]]


def spoiled(value):
    def change(sets):
        row = sets[3].copy()
        row[-1, 2] = value
        return [*sets[:3], row, *sets[4:]]

    return change


SPOILED_SETS = [
    (emptied, r"row 3 of '{}' has no tokens. Leave it out, and its partner: kept = "),
    (widened, r"row 3 of '{}' has tokens of 1[26] columns, .* pass \[row for row in"),
    (flat, r"row 3 of '{}' has shape .* pass a single vector as row\[np.newaxis\]"),
    (
        spoiled(np.nan),
        r"'{}' contains NaN, first in a token of row 3. Drop such tokens",
    ),
    (spoiled(np.inf), r"'{}' contains infinity, first in a token of row 3. Drop such"),
]


@pytest.mark.parametrize(("change", "message"), SPOILED_SETS)
def test_sets_that_are_no_sets(change, message):
    X, Y = spaces()
    xs, ys = token_sets(X), token_sets(Y)
    model = anchored().fit(xs, ys)
    with pytest.raises(ValueError, match="LearnedAnchors: " + message.format("X")):
        anchored().fit(change(xs), ys)
    with pytest.raises(ValueError, match="LearnedAnchors: " + message.format("y")):
        anchored().fit(xs, change(ys))
    with pytest.raises(ValueError, match="LearnedAnchors: " + message.format("X")):
        model.transform(change(xs))
    with pytest.raises(ValueError, match=message.format("unpaired_X")):
        anchored().fit(xs, ys, unpaired_X=change(xs))


def test_sets_of_another_width_than_the_fitted_ones():
    X, Y = spaces()
    model = anchored().fit(token_sets(X), Y)
    with pytest.raises(ValueError, match="8 features"):
        model.transform(token_sets(Y))
    with pytest.raises(ValueError, match="Pass rows of the same encoder"):
        anchored().fit(X, Y, unpaired_X=Y)
    with pytest.raises(ValueError, match="Pass rows of the same encoder"):
        anchored().fit(X, Y, unpaired_y=token_sets(X))


def test_pairs_that_do_not_pair():
    X, Y = spaces()
    with pytest.raises(ValueError, match="Pass the partners in the order of X"):
        anchored().fit(X, Y[:-1])
    with pytest.raises(ValueError, match=r"such as \[y\[i\] for i in index_of_pairs\]"):
        anchored().fit(token_sets(X), Y[:-1])
    with pytest.raises(ValueError, match=r"y is None. Pass the partners"):
        anchored().fit(token_sets(X), None)
    with pytest.raises(
        ValueError, match=r"Pass the rows of the other space: fit\(X, y"
    ):
        anchored().fit(X, None)


def test_numbers_that_are_none():
    X, Y = spaces()
    bad = Y.copy()
    bad[4, 2] = np.nan
    with pytest.raises(ValueError, match="'y' contains NaN, first in row 4"):
        anchored().fit(X, bad)
    with pytest.raises(ValueError, match="'y' contains NaN, first in row 4"):
        anchored().fit(token_sets(X), bad)
    with pytest.raises(ValueError, match="'unpaired_y' contains NaN, first in row 4"):
        anchored().fit(X, Y, unpaired_y=bad)


def test_sparse_sides():
    X, Y = spaces()
    for pair in ((sp.csr_array(X), Y), (X, sp.csr_array(Y))):
        with pytest.raises(TypeError, match="toarray"):
            anchored().fit(*pair)


@pytest.mark.parametrize("n", [1, 5])
def test_one_pair_has_nothing_to_be_told_from(n):
    X, Y = spaces()
    rows = np.zeros(n, dtype=int)
    with pytest.raises(ValueError, match="Pass 2 pairs at least that differ"):
        anchored().fit(X[rows], Y[rows])
    with pytest.raises(ValueError, match="Pass 2 pairs at least that differ"):
        anchored().fit(X[:2], Y[:2], sample_weight=[1, 0])


def test_two_pairs_are_enough():
    X, Y = spaces()
    model = anchored(2).fit(X[:2], Y[:2])
    assert score(model, X[:2], Y[:2]) == 1


def test_sides_without_differences():
    X, Y = spaces()
    with pytest.raises(ValueError, match=r"all rows of 'X' are equal.*Pass rows that"):
        anchored().fit(np.ones_like(X), Y)
    with pytest.raises(ValueError, match=r"all rows of 'y' are equal.*Pass rows that"):
        anchored().fit(X, np.ones_like(Y))
    # Each pair lies at the mean of one side.
    X, Y = np.array([[1.0], [1], [0], [2]]), np.array([[0.0], [2], [1], [1]])
    with pytest.raises(ValueError, match=r"none can serve as an anchor\. Pass more"):
        anchored(2).fit(X, Y)


def test_more_anchors_than_pairs():
    X, Y = spaces()
    with pytest.warns(FewerColumnsWarning, match="set n_anchors=60 or fewer"):
        model = anchored(64).fit(X, Y)
    assert model.n_anchors_ == 60
    assert len(model.get_feature_names_out()) == 60


def test_settings_that_cannot_train():
    X, Y = spaces()
    with pytest.raises(ValueError, match='Pass batch_size="auto", or 2 at least'):
        anchored(batch_size=1).fit(X, Y)
    with pytest.raises(ValueError, match="or validation_fraction=None"):
        anchored(validation_fraction=0.01).fit(X, Y)
    with pytest.raises(ValueError, match="optimizer__gamma"):
        anchored(optimizer_params={"gamma": 1}).fit(X, Y)
    with pytest.raises(ValueError, match="'pooling' parameter of LearnedAnchors"):
        anchored(pooling="sum").fit(X, Y)
