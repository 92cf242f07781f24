"""The sum of a loss over prefixes: its value, what it cuts, and what it refuses."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from skrep.nn.losses import BhattacharyyaLoss, MatryoshkaLoss
from tests.strategies import seeds


class Squares(nn.Module):
    """Weighted sum of squared differences."""

    def forward(self, embeddings, y, sample_weight=None):
        gaps = (embeddings - y).square().sum(dim=-1)
        return (gaps if sample_weight is None else gaps * sample_weight).sum()


def batch(seed, n=6, k=5):
    rng = np.random.default_rng(seed)
    return torch.tensor(rng.standard_normal((n, k)), dtype=torch.float64)


@given(
    seed=seeds,
    lengths=st.lists(st.integers(1, 5), min_size=1, unique=True),
    weighted=st.booleans(),
)
@settings(max_examples=30)
@pytest.mark.filterwarnings("ignore:.*are not trained")
def test_it_is_the_weighted_sum_in_any_order(seed, lengths, weighted):
    z, y = batch(seed), batch(seed + 1)
    factors = [k / 3 for k in lengths]
    weight = batch(seed)[:, 0].abs() if weighted else None
    options = {} if weight is None else {"sample_weight": weight}
    expected = sum(
        f * Squares()(z[:, :k], y[:, :k], **options)
        for k, f in zip(lengths, factors, strict=True)
    )
    for order in (slice(None), slice(None, None, -1)):
        criterion = MatryoshkaLoss(
            Squares(), lengths[order], factors[order], cut_targets=True
        )
        assert torch.isclose(criterion(z, y, weight), expected)


def test_targets_are_cut_with_the_prefix_only_if_asked():
    z, y = batch(0), batch(1)
    cut = MatryoshkaLoss(Squares(), [2, 5], cut_targets=True)
    assert torch.isclose(cut(z, y), Squares()(z[:, :2], y[:, :2]) + Squares()(z, y))
    one = y[:, :1]
    whole = MatryoshkaLoss(Squares(), [2, 5])
    assert torch.isclose(whole(z, one), Squares()(z[:, :2], one) + Squares()(z, one))
    with pytest.raises(ValueError, match="cut_targets=False"):
        cut(z, y[:, :4])


def test_the_last_axis_is_cut():
    z = batch(0, n=6, k=10).reshape(6, 2, 5)
    criterion = MatryoshkaLoss(Squares(), [3, 5])
    expected = Squares()(z[..., :3], 0.0) + Squares()(z, 0.0)
    assert torch.isclose(criterion(z, torch.zeros(1)), expected)


def test_gradients_reach_embeddings_and_the_parameters_of_the_loss():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = nn.Parameter(torch.tensor(2.0, dtype=torch.float64))

        def forward(self, embeddings, y):
            return self.factor * (embeddings.sum() - y.sum())

    z = batch(0).requires_grad_()
    criterion = MatryoshkaLoss(Scaled(), [1, 5], [3.0, 1.0])
    assert len(list(criterion.parameters())) == 1
    criterion(z, torch.zeros(6)).backward()
    assert z.grad[0].tolist() == [8.0, 2.0, 2.0, 2.0, 2.0]
    assert torch.isclose(
        criterion.loss.factor.grad, (3 * z[:, 0].sum() + z.sum()).detach()
    )


def test_a_missing_full_length_warns_once():
    criterion = MatryoshkaLoss(Squares(), [2, 3])
    with pytest.warns(UserWarning, match="Add 5 to prefixes"):
        criterion(batch(0), batch(1)[:, :1])
    criterion(batch(0), batch(1)[:, :1])


def test_weights_need_a_loss_that_takes_them():
    class Plain(nn.Module):
        def forward(self, embeddings, y):
            return embeddings.sum()

    criterion = MatryoshkaLoss(Plain(), [5])
    assert torch.isclose(criterion(batch(0), None), batch(0).sum())
    with pytest.raises(ValueError, match=r"forward\(embeddings, y, sample_weight=None"):
        criterion(batch(0), batch(1), torch.ones(6))


@pytest.mark.parametrize(
    ("prefixes", "weights", "match"),
    [
        ([], None, r"'prefixes' is empty.* pass prefixes=\[8, 16, 32\]"),
        ([2, 0], None, r"holds 0\. .* pass prefixes=\[8, 16, 32\]"),
        ([2.5], None, r"holds 2\.5\. .*an integer from 1 up"),
        ([True], None, r"holds True\. .*an integer from 1 up"),
        ([4, 2, 4], None, r"repeats a length.* pass prefixes=\[2, 4\]"),
        ([4, 2], [1.0], r"'weights' has 1 entries.*Pass weights=\[1\.0, 1\.0\]"),
        ([4, 2], [1.0, -1.0], "Pass weights=None"),
        ([4, 2], [1.0, float("nan")], "Pass weights=None"),
        ([4, 2], [0.0, 0.0], "Pass weights=None"),
    ],
)
def test_bad_lengths_and_weights_are_refused(prefixes, weights, match):
    with pytest.raises(ValueError, match=match):
        MatryoshkaLoss(Squares(), prefixes, weights)


def test_a_length_beyond_the_columns_is_refused():
    with pytest.raises(ValueError, match=r"LazyLinear\(8\)"):
        MatryoshkaLoss(Squares(), [2, 8])(batch(0), batch(1))


def test_one_length_may_be_a_number():
    assert MatryoshkaLoss(BhattacharyyaLoss(), 3).prefixes == (3,)


def test_repr_shows_the_options():
    shown = repr(MatryoshkaLoss(Squares(), [2, 5]))
    assert "prefixes=(2, 5), weights=(1.0, 1.0), cut_targets=False" in shown
