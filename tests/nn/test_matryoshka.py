"""The networks and losses of Matryoshka projections, against naive loops."""

import itertools

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from numpy.testing import assert_allclose
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import cosine_similarity

from skrep.nn._matryoshka import (
    FIRST_SCALE,
    Adaptor,
    Jitter,
    Leading,
    LinearMap,
    PairContrast,
    PrefixHeads,
    Sides,
    TeacherCosines,
    TurnedAxes,
    training_state,
)
from tests.strategies import seeds


@pytest.fixture(autouse=True)
def _seeded():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def normal(seed, *shape):
    values = np.random.default_rng(seed).standard_normal(shape)
    return torch.from_numpy(values)


# --- networks --------------------------------------------------------------------


@pytest.mark.parametrize(("n_turned", "n_outputs"), [(3, 5), (3, 3), (5, 2)])
def test_axes_are_turned_by_an_orthogonal_matrix(n_turned, n_outputs):
    turn = TurnedAxes(n_turned, n_outputs, (2,)).double()
    X = normal(0, 7, 6)
    assert_allclose(turn(X).detach(), X[:, :n_outputs])
    torch.nn.init.normal_(turn.skew)
    S = turn.skew.detach().numpy().copy()
    S[:2, :2] = S[2:, 2:] = 0
    A, eye = (S - S.T) / 2, np.eye(n_turned)
    R = np.linalg.inv(eye - A) @ (eye + A)
    R = scipy.linalg.block_diag(R, np.eye(6 - n_turned))
    assert_allclose(R @ R.T, np.eye(6), atol=1e-12)
    assert_allclose(turn(X).detach(), (X.numpy() @ R)[:, :n_outputs])
    assert_allclose(training_state(turn)["rotation"], R[:n_turned, :n_turned])


def test_an_adaptor_begins_at_its_rows():
    X = normal(0, 7, 6)
    added = Adaptor(6, 4, (8,), residual=True).double()
    assert_allclose(added(X).detach(), X[:, :4])
    plain = Adaptor(6, 9, (8,), residual=False).double()
    assert plain(X).shape == (7, 9)
    assert plain(X).abs().max() > 0
    coefs, intercepts = training_state(plain)["layers"]
    hidden = np.maximum(X.numpy() @ coefs[0] + intercepts[0], 0)
    assert_allclose(hidden @ coefs[1] + intercepts[1], plain(X).detach())


def test_a_map_has_no_bias():
    one = LinearMap(4, 2).double()
    X = normal(0, 3, 4)
    assert_allclose(X.numpy() @ training_state(one)["matrix"].T, one(X).detach())


def test_sides_are_encoded_alike():
    encoder = LinearMap(3, 2).double()
    X = normal(0, 5, 6)
    both = Sides(encoder)(X)
    assert_allclose(both[:, :2].detach(), encoder(X[:, :3]).detach())
    assert_allclose(both[:, 2:].detach(), encoder(X[:, 3:]).detach())


def test_noise_is_of_its_size_in_training_alone_and_turns_with_the_rows():
    spread = torch.tensor([0.0, 0.5, 2.0], dtype=torch.float64)
    noise, X = Jitter(spread), normal(0, 4000, 3)
    assert torch.equal(noise.eval()(X), X)
    noise.train()
    found = []
    for sign in (1, -1):
        torch.manual_seed(0)
        found.append(sign * noise(sign * X))
    assert torch.equal(*found)
    assert_allclose((found[0] - X).std(dim=0), spread, rtol=0.05, atol=1e-15)


# --- losses ----------------------------------------------------------------------


@pytest.mark.parametrize("tied", [True, False])
def test_heads_are_cross_entropies_of_cut_rows(tied):
    Z, y = normal(0, 9, 5), torch.arange(9) % 3
    w = normal(1, 9).abs()
    heads = PrefixHeads(3, (2, 5), tied=tied).double()
    for k in (2, 5):
        at = 0 if tied else (2, 5).index(k)
        weight = heads.heads[at].weight.detach().numpy()[:, :k]
        scores = Z.numpy()[:, :k] @ weight.T + heads.heads[at].bias.detach().numpy()
        proba = scipy.special.softmax(scores, axis=1)
        expected = log_loss(y, proba, sample_weight=w)
        assert_allclose(heads(Z[:, :k], y, w).item(), expected)
        assert_allclose(heads(Z[:, :k], y).item(), log_loss(y, proba))
    assert len(heads.heads) == (1 if tied else 2)


def test_heads_of_numbers_are_squared_errors_and_begin_where_they_are_told():
    Z, y, w = normal(0, 9, 5), normal(1, 9), normal(2, 9).abs()
    heads = PrefixHeads(1, (2, 5), tied=False).double()
    slope = normal(3, 1, 6)
    heads.start(slope, torch.tensor([0.5]))
    wrong = (Z[:, :2] @ slope[0, :2] + 0.5 - y).square()
    assert_allclose(heads(Z[:, :2], y, w).item(), np.average(wrong, weights=w))


def naive_contrast(Z, ids, w, scale=FIRST_SCALE):
    """Pair by pair, over the pairs that share no row with it."""
    total = 0.0
    for own, other in ((0, 1), (1, 0)):
        cosines = cosine_similarity(Z[:, own], Z[:, other])
        for i in range(len(Z)):
            among = [np.exp(scale * cosines[i, i])]
            among += [
                w[j] * np.exp(scale * cosines[i, j])
                for j in range(len(Z))
                if not (ids[i] == ids[j]).any()
            ]
            total += w[i] * np.log(sum(among) / among[0]) / 2
    return total / sum(w)


@given(seed=seeds)
@settings(max_examples=15)
def test_contrast_is_that_of_a_loop_without_false_negatives(seed):
    rng = np.random.default_rng(seed)
    Z, ids = rng.standard_normal((8, 2, 3)), rng.integers(0, 6, (8, 2))
    w = rng.uniform(0.5, 3, 8)
    loss = PairContrast((3, 4)).double()
    found = loss(torch.from_numpy(Z), torch.from_numpy(ids), torch.from_numpy(w))
    assert_allclose(found.item(), naive_contrast(Z, ids, w))


def test_a_pair_of_weight_two_is_there_twice():
    Z, ids = normal(0, 5, 2, 3), torch.arange(10).reshape(5, 2)
    loss = PairContrast((3,)).double()
    twice = torch.tensor([0, 1, 2, 3, 4, 4])
    w = torch.tensor([1.0, 1, 1, 1, 2])
    assert_allclose(loss(Z, ids, w).item(), loss(Z[twice], ids[twice]).item())


def test_scales_are_learned_for_each_length():
    loss = PairContrast((2, 3)).double()
    loss(normal(0, 5, 2, 3), torch.arange(10).reshape(5, 2)).backward()
    assert loss.growth["2"].grad is None
    assert loss.growth["3"].grad != 0


@given(seed=seeds)
@settings(max_examples=15)
def test_cosines_of_the_teacher_are_those_of_a_loop(seed):
    rng = np.random.default_rng(seed)
    Z, T, w = (
        rng.standard_normal((6, 2)),
        rng.standard_normal((6, 4)),
        [1, 2, 1, 3, 1, 1],
    )
    rows = np.repeat(np.arange(6), w)
    wrong = [
        (cosine_similarity(Z[[i]], Z[[j]]) - cosine_similarity(T[[i]], T[[j]])) ** 2
        for i, j in itertools.combinations(rows, 2)
    ]
    loss = TeacherCosines()
    weights = torch.tensor(w, dtype=torch.float64)
    found = loss(torch.from_numpy(Z), torch.from_numpy(T), weights)
    assert_allclose(found.item(), np.mean(wrong))
    copies = torch.from_numpy(Z[rows]), torch.from_numpy(T[rows])
    assert_allclose(loss(*copies).item(), np.mean(wrong))


def test_zero_rows_and_single_rows_have_finite_gradients():
    Z = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    TeacherCosines()(Z, normal(0, 3, 4)).backward()
    assert torch.isfinite(Z.grad).all()
    one = normal(0, 1, 2).requires_grad_()
    loss = TeacherCosines()(one, normal(0, 1, 4))
    loss.backward()
    assert loss == 0
    assert torch.isfinite(one.grad).all()


def test_the_cosine_of_one_column_is_a_sign_without_a_slope():
    Z, T = normal(0, 6, 1).requires_grad_(), normal(1, 6, 4)
    loss = TeacherCosines()(Z, T)
    signs = np.sign(Z.detach().numpy())
    wrong = signs @ signs.T - cosine_similarity(T)
    assert_allclose(loss.item(), np.mean(wrong[np.triu_indices(6, 1)] ** 2))
    loss.backward()
    assert not Z.grad.any()


def test_leading_columns_of_each_side_are_seen():
    seen = []

    class Look(torch.nn.Module):
        def forward(self, embeddings, y, sample_weight=None):
            seen.append(embeddings)
            return embeddings.sum()

    Z = normal(0, 5, 6)
    Leading(Look(), 2, 2)(Z, None)
    Leading(Look(), 2, 1)(Z, None)
    assert torch.equal(seen[0], torch.stack([Z[:, :2], Z[:, 3:5]], dim=1))
    assert torch.equal(seen[1], Z[:, :2])
