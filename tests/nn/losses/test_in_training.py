"""Every loss trains a network, in a bare loop and as the criterion of skorch."""

import copy

import numpy as np
import pytest
import torch
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale
from skorch import NeuralNetClassifier
from torch import nn

import skrep.nn.losses
from skrep.nn.losses import BhattacharyyaLoss, CombinedLoss, LDACrossEntropy, LogDetLoss

K = 2
OPTIONS = {
    "CombinedLoss": {"losses": [BhattacharyyaLoss(power=1), LDACrossEntropy()]},
    "LinearSeparability": {"n_features": K, "n_classes": 3},
    "MatryoshkaLoss": {"loss": LDACrossEntropy(), "prefixes": [1, K]},
    "SimplexLoss": {"n_classes": 3},
}
every = pytest.mark.parametrize("name", skrep.nn.losses.__all__)


@pytest.fixture
def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X).astype(np.float32), y


@pytest.fixture(autouse=True)
def _seeded():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def network():
    return nn.Sequential(nn.Linear(13, 16), nn.ReLU(), nn.Linear(16, K))


def make(name):
    return getattr(skrep.nn.losses, name)(**copy.deepcopy(OPTIONS.get(name, {})))


@every
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bare_loop(name, dtype, wine):
    X, y = torch.tensor(wine[0], dtype=dtype), torch.tensor(wine[1], dtype=torch.int32)
    net, criterion = network().to(dtype), make(name).to(dtype)
    optimizer = torch.optim.Adam([*net.parameters(), *criterion.parameters()], lr=3e-3)
    history = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = criterion(net(X), y)
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    assert loss.dtype == dtype
    assert np.isfinite(history).all()
    assert history[-1] < history[0]
    assert all(torch.isfinite(p).all() for p in net.parameters())


@every
def test_criterion_of_skorch(name, wine):
    options = copy.deepcopy(OPTIONS.get(name, {}))
    net = NeuralNetClassifier(
        network,
        criterion=getattr(skrep.nn.losses, name),
        optimizer=torch.optim.Adam,
        lr=3e-3,
        max_epochs=6,
        batch_size=64,
        iterator_train__shuffle=True,
        train_split=None,
        verbose=0,
        **{f"criterion__{option}": value for option, value in options.items()},
    )
    net.fit(*wine)
    history = net.history[:, "train_loss"]
    assert np.isfinite(history).all()
    assert history[-1] < history[0]


@every
def test_global_state_of_torch_is_left_alone(name, wine):
    X, y = map(torch.tensor, wine)
    criterion = make(name)
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    criterion(X[:, :K].requires_grad_(), y).backward()
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    assert torch.get_default_dtype() == torch.float32


@every
def test_inputs_are_not_written_to(name, wine):
    X, y = wine[0][:, :K].astype(np.float64), wine[1]
    rows, codes = torch.tensor(X, requires_grad=True), torch.tensor(y)
    make(name).double()(rows, codes).backward()
    assert (rows.detach().numpy() == X).all()
    assert (codes.numpy() == y).all()


def test_a_sum_is_the_sum(wine):
    rows, y = torch.tensor(wine[0][:, :3]), torch.tensor(wine[1])
    weight = torch.rand(len(y))
    members = [LogDetLoss(), LDACrossEntropy(), nn.CrossEntropyLoss()]
    values = [member(rows, y).item() for member in members]
    whole = CombinedLoss(members)(rows, y)
    assert whole.dtype == torch.float32
    assert whole.item() == pytest.approx(sum(values), rel=1e-6)
    scaled = CombinedLoss(members, weights=[0.5, -1, 0])(rows, y)
    assert scaled.item() == pytest.approx(values[0] / 2 - values[1], rel=1e-5)
    values = [member(rows, y, weight).item() for member in members[:2]]
    weighted = CombinedLoss(members[:2])(rows, y, sample_weight=weight)
    assert weighted.item() == pytest.approx(sum(values), rel=1e-6)
    with pytest.raises(TypeError, match="sample_weight"):
        CombinedLoss([nn.CrossEntropyLoss()])(rows, y, weight)


def test_sums_nest_and_own_what_their_members_own(wine):
    rows, y = torch.tensor(wine[0][:, :K]), torch.tensor(wine[1])
    probe = make("LinearSeparability")
    inner = CombinedLoss([probe, LogDetLoss()], weights=[2.0, 1.0])
    outer = CombinedLoss([inner, LDACrossEntropy()], weights=[0.5, 1.0])
    assert set(map(id, outer.parameters())) == set(map(id, probe.parameters()))
    expected = probe(rows, y) + LogDetLoss()(rows, y) / 2 + LDACrossEntropy()(rows, y)
    assert outer(rows, y).item() == pytest.approx(expected.item(), rel=1e-5)
    outer(rows, y).backward()
    assert all(p.grad is not None for p in probe.parameters())
    assert "weights=[0.5, 1.0]" in repr(outer)


@pytest.mark.parametrize(
    ("losses", "weights", "message"),
    [
        ([], None, r"got none\. Pass CombinedLoss\(\[LDACrossEntropy\(\)\]\)"),
        ([LogDetLoss()], [1.0, 2.0], r"2 entries .* weights=\[1.0\] \* len\(losses\)"),
        ([LogDetLoss()], [np.nan], r"finite.* weights=\[1.0\] \* len\(losses\)"),
    ],
)
def test_sums_that_cannot_be_right(losses, weights, message):
    with pytest.raises(ValueError, match=f"^CombinedLoss: .*{message}"):
        CombinedLoss(losses, weights)


@pytest.mark.parametrize("dead", [True, False])
def test_cases_of_a_whole_training(wine, dead):
    """Batches without two rows of a class, and a network that has died."""
    X, y = map(torch.tensor, wine)
    net = nn.Sequential(network(), nn.ReLU()) if dead else nn.Sequential(network())
    criterion = CombinedLoss([make(n) for n in ("LDACrossEntropy", "LogDetLoss")])
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    if dead:
        with torch.no_grad():
            net[0][2].bias.fill_(-100.0)
    for rows in torch.tensor([[0, 70, 150], [0, 1, 2], [0, 70, 71]]):
        optimizer.zero_grad()
        criterion(net(X[rows]), y[rows]).backward()
        optimizer.step()
    assert all(torch.isfinite(p).all() for p in net.parameters())
