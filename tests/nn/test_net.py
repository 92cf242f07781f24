"""How a network is trained: history, patience, callbacks, seeds, weights, types."""

import copy

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from skorch.callbacks import Callback, Checkpoint, EarlyStopping, GradientNormClipping
from torch import nn

from skrep.nn._batches import Batches, Rows
from skrep.nn._modules import build_mlp
from skrep.nn._net import PATIENCE, Plan, Training, check_loss, seeded
from skrep.nn.losses import LDACrossEntropy

RNG = np.random.default_rng(0)
CODES = np.arange(48) % 3
X = RNG.normal(size=(48, 4)) + 2 * RNG.normal(size=(3, 4))[CODES]


class Scores(nn.Module):
    """Mean cross-entropy with weights, and all that it was given."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, scores, y, sample_weight=None):
        self.seen.append((scores.dtype, sample_weight))
        surprise = nn.functional.cross_entropy(scores, y, reduction="none")
        if sample_weight is None:
            return surprise.mean()
        return (surprise * sample_weight).sum() / sample_weight.sum()


def as_rows(dtype=torch.float64, weights=None, at=slice(None)):
    inputs, codes = torch.tensor(X[at], dtype=dtype), CODES[at]
    if weights is not None:
        weights = torch.tensor(weights)
    return Rows(
        lambda i: inputs[torch.from_numpy(i)], codes, torch.tensor(codes), weights
    )


def trained(
    loss=None,
    n_epochs=5,
    *,
    rows=None,
    held_out=None,
    dtype=torch.float64,
    seed=0,
    **plan,
):
    """A training of some epochs, which tells how many there were."""
    plan = {
        "max_epochs": n_epochs,
        "batch_size": 16,
        "lr": 0.01,
        "weight_decay": 0.0,
        "optimizer_params": {},
        "device": "cpu",
        "callbacks": (),
        **plan,
    }
    with seeded(seed, "cpu") as draws:
        training = Training(
            "Example",
            lambda: build_mlp(4, 3, (8,), 0.2),
            loss or nn.CrossEntropyLoss(),
            Plan(**plan),
            n_outputs=3,
            rows=rows or as_rows(dtype),
            held_out=held_out,
            seed=draws,
            dtype=dtype,
        )
        for _ in range(n_epochs):
            if not training.epoch():
                break
        training.finish()
    return training


def weights_of(training):
    return torch.cat(
        [part.flatten() for part in training.network.parameters()]
    ).detach()


# --- the loop --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_it_is_a_bare_loop(dtype):
    found = trained(dtype=dtype, weight_decay=0.1, optimizer_params={"eps": 1e-6})
    assert found.network[0].weight.dtype == dtype
    loss = nn.CrossEntropyLoss()
    with seeded(0, "cpu") as draws:
        batches = Batches(as_rows(dtype), 16, draws)
        net = build_mlp(4, 3, (8,), 0.2).to(dtype)
        optimizer = torch.optim.AdamW(
            net.parameters(), lr=0.01, weight_decay=0.1, eps=1e-6
        )
        for _ in range(5):
            for rows, targets, _ in batches:
                optimizer.zero_grad()
                loss(net(rows), targets).backward()
                optimizer.step()
    expected = torch.cat([part.flatten() for part in net.parameters()]).detach()
    assert_allclose(weights_of(found), expected, rtol=1e-5, atol=1e-7)


def test_history_holds_means_over_rows():
    held_out = as_rows(at=slice(0, 21))
    found = trained(n_epochs=3, held_out=held_out, lr=1e-12)
    record = found.record()
    assert record["n_iter_"] == 3
    assert [row["epoch"] for row in record["history_"]] == [1, 2, 3]
    assert set(record["history_"][0]) == {"epoch", "train_loss", "valid_loss"}
    found.network.eval()
    scores = found.network(torch.tensor(X[:21])).detach()
    expected = nn.functional.cross_entropy(scores, torch.tensor(CODES[:21]))
    assert_allclose(record["history_"][-1]["valid_loss"], expected, rtol=1e-8)
    assert record["best_loss_"] == min(r["valid_loss"] for r in record["history_"])
    alone = trained(n_epochs=2).record()
    assert set(alone["history_"][0]) == {"epoch", "train_loss"}
    assert alone["best_loss_"] is None
    losses = [row["train_loss"] for row in trained(n_epochs=40).record()["history_"]]
    assert losses[-1] < losses[0] / 2


def test_rows_that_are_held_out_are_not_trained_on():
    one = trained(held_out=as_rows(at=slice(0, 20)))
    other = trained(held_out=as_rows(at=slice(20, 48)))
    alone = trained()
    # All five epochs were better than those before.
    assert one.best[1] == other.best[1] == 5
    assert_array_equal(weights_of(one), weights_of(alone))
    assert_array_equal(weights_of(other), weights_of(alone))


class Rising(nn.Module):
    """A loss that has its least value in a chosen pass over the held-out rows."""

    def __init__(self, best):
        super().__init__()
        self.best, self.passes = best, 0

    def forward(self, scores, y):
        if scores.requires_grad:
            return nn.functional.cross_entropy(scores, y)
        self.passes += 1
        return torch.tensor(float(abs(self.passes - self.best)))


def test_patience_and_the_best_weights():
    # Held-out rows are one batch.
    found = trained(Rising(4), 50, held_out=as_rows(at=slice(0, 16)))
    record = found.record()
    assert record["n_iter_"] == 4 + PATIENCE == 14
    assert record["best_loss_"] == 0
    assert_array_equal(weights_of(found), weights_of(trained(n_epochs=4)))
    whole = trained(Rising(45), 50, held_out=as_rows(at=slice(0, 16)))
    assert whole.record()["n_iter_"] == 50


# --- weights ---------------------------------------------------------------------


def test_weights_reach_the_loss_with_their_rows():
    weights = RNG.uniform(0.5, 2, 48)
    given = []

    class Peek(nn.Module):
        def forward(self, scores, y, sample_weight):
            given.extend(sample_weight.tolist())
            return scores.square().mean()

    trained(Peek(), 1, rows=as_rows(weights=weights))
    assert_array_equal(np.sort(given), np.sort(weights))


def test_weights_are_repetitions():
    twice = np.where(np.arange(48) < 10, 2.0, 1.0)
    order = np.repeat(np.arange(48), twice.astype(int))

    def plain(rows):
        # A batch of all rows, and no dropout, whose draws are one per row.
        with seeded(0, "cpu") as draws:
            plan = Plan(20, 1000, 0.01, 0.0, {}, "cpu", ())
            made = Training(
                "Example",
                lambda: build_mlp(4, 3, (8,)),
                Scores(),
                plan,
                n_outputs=3,
                rows=rows,
                held_out=None,
                seed=draws,
                dtype=torch.float64,
            )
            for _ in range(20):
                made.epoch()
        return weights_of(made)

    one, other = plain(as_rows(weights=twice)), plain(as_rows(at=order))
    assert_allclose(one, other, rtol=1e-8, atol=1e-10)
    assert not np.allclose(one, plain(as_rows()))


def test_losses_without_weights():
    check_loss("Example", nn.CrossEntropyLoss(), weighted=False)
    for loss in (Scores(), LDACrossEntropy()):
        check_loss("Example", loss, weighted=True)
    with pytest.raises(
        ValueError,
        match=r"Example: 'loss' is CrossEntropyLoss, .*Pass sample_weight=None",
    ):
        trained(rows=as_rows(weights=np.ones(48)))


def test_a_loss_is_copied_and_its_parameters_are_trained():
    class Scaled(Scores):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(1))

        def forward(self, scores, y, sample_weight=None):
            return super().forward(self.scale * scores, y, sample_weight)

    loss = Scaled()
    found = trained(loss, dtype=torch.float64)
    assert loss.scale == 1
    assert loss.seen == []
    own = found.net.criterion_
    assert own.scale.dtype == torch.float64
    assert own.scale != 1
    assert own.seen == [(torch.float64, None)] * 15


def test_losses_of_an_epoch_weigh_batches_by_their_weights():
    weights = np.where(np.arange(48) < 24, 9.0, 1.0)

    class Share(nn.Module):
        """The mean, over the rows of a batch, of what is 1 for heavy rows alone."""

        def forward(self, scores, y, sample_weight):
            seen.append((scores.requires_grad, sample_weight.sum().item()))
            return 0 * scores.sum() + len(seen)

    seen = []
    found = trained(
        Share(), 1, rows=as_rows(weights=weights), held_out=as_rows(weights=weights)
    )
    last = found.record()["history_"][0]
    for key, training in (("train_loss", True), ("valid_loss", False)):
        own = [(i + 1, w) for i, (grad, w) in enumerate(seen) if grad == training]
        assert len(own) > 1
        assert len({w for _, w in own}) > 1
        values, masses = zip(*own, strict=True)
        assert_allclose(last[key], np.average(values, weights=masses))
        assert not np.isclose(last[key], np.mean(values))


# --- divergence ------------------------------------------------------------------


def test_losses_that_are_not_finite():
    class Broken(nn.Module):
        def forward(self, scores, y):
            return scores.sum() * torch.inf

    with pytest.raises(
        ValueError, match=r"in epoch 1\. Training diverged: .*to lr=0\.001, say"
    ):
        trained(Broken())


def test_gradients_that_are_not_finite_in_the_last_step():
    class Kinked(nn.Module):
        def forward(self, scores, y):
            return torch.sqrt(0 * scores.square()).sum()

    with pytest.raises(ValueError, match=r"weights became infinite or NaN.*lr=0\.001"):
        trained(Kinked(), 1, batch_size=48)


# --- callbacks -------------------------------------------------------------------


def test_callbacks_hear_of_everything_and_are_the_ones_given():
    class Listen(Callback):
        def __init__(self):
            self.heard = []

        def on_train_begin(self, net, **_):
            self.heard.append("begin")

        def on_epoch_end(self, net, dataset_train, dataset_valid, **_):
            self.heard.append(net.history[-1]["train_loss"])
            net.history.record("size", len(dataset_train.rows))

        def on_grad_computed(self, net, named_parameters, **_):
            self.heard.append(len(list(named_parameters)))

        def on_train_end(self, net, **_):
            self.heard.append("end")

    listen = Listen()
    found = trained(n_epochs=2, callbacks=[listen])
    losses = [row["train_loss"] for row in found.record()["history_"]]
    assert listen.heard == ["begin", 4, 4, 4, losses[0], 4, 4, 4, losses[1], "end"]
    assert [row["size"] for row in found.record()["history_"]] == [48, 48]


def test_callbacks_of_skorch_work(tmp_path):
    stop = EarlyStopping(monitor="train_loss", patience=2, threshold=1e9, sink=len)
    assert trained(n_epochs=30, callbacks=[stop]).record()["n_iter_"] == 3
    clip = GradientNormClipping(1e-3)
    clipped = trained(n_epochs=1, callbacks=[clip])
    assert not np.array_equal(weights_of(clipped), weights_of(trained(n_epochs=1)))
    save = Checkpoint(monitor="train_loss_best", dirname=tmp_path)
    record = trained(n_epochs=2, callbacks=[save]).record()
    assert (tmp_path / "params.pt").exists()
    assert [row["event_cp"] for row in record["history_"]] == [True, True]


def test_a_stopped_training_keeps_the_weights_of_its_last_epoch():
    class Stop(Callback):
        def on_epoch_end(self, net, **_):
            if len(net.history) == 3:
                raise KeyboardInterrupt

    found = trained(n_epochs=30, callbacks=[Stop()])
    assert found.record()["n_iter_"] == 3
    assert_array_equal(weights_of(found), weights_of(trained(n_epochs=3)))


def test_an_interrupt_elsewhere_is_an_interrupt():
    class Interrupt(Callback):
        def on_batch_end(self, net, **_):
            raise KeyboardInterrupt

    before = torch.get_rng_state()
    with pytest.raises(KeyboardInterrupt):
        trained(callbacks=[Interrupt()])
    assert torch.equal(torch.get_rng_state(), before)


def test_nothing_is_printed(capfd):
    trained(held_out=as_rows(at=slice(0, 20)))
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


# --- seeds -----------------------------------------------------------------------


def test_seeds_are_ones_own():
    torch.manual_seed(7)
    before = torch.get_rng_state()
    numbers = copy.deepcopy(np.random.mtrand._rand.get_state()[1])
    one = weights_of(trained(seed=1))
    assert torch.equal(torch.get_rng_state(), before)
    assert_array_equal(np.random.mtrand._rand.get_state()[1], numbers)
    torch.manual_seed(8)
    assert_array_equal(one, weights_of(trained(seed=1)))
    assert not np.array_equal(one, weights_of(trained(seed=2)))


def test_the_state_is_put_back_after_an_error():
    def fail():
        with seeded(0, "cpu"):
            torch.rand(3)
            raise OSError("full")

    before = torch.get_rng_state()
    with pytest.raises(OSError, match="full"):
        fail()
    assert torch.equal(torch.get_rng_state(), before)


def test_seeded_gives_both_sources():
    with seeded(5, "cpu") as draws:
        found = torch.rand(3)
        numbers = draws.random(3)
    assert_array_equal(found, torch.rand(3, generator=torch.Generator().manual_seed(5)))
    assert_array_equal(numbers, np.random.default_rng(5).random(3))


def test_threads_stay():
    threads = torch.get_num_threads()
    trained(n_epochs=1)
    assert torch.get_num_threads() == threads
