"""The networks and losses of Matryoshka projections."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from skrep.nn._modules import build_mlp, mlp_arrays
from skrep.nn.losses._rows import mean_over_rows

__all__ = [
    "Adaptor",
    "Jitter",
    "Leading",
    "LinearMap",
    "PairContrast",
    "PrefixHeads",
    "Sides",
    "TeacherCosines",
    "TurnedAxes",
    "training_state",
]

FIRST_SCALE = 12.0
"""What cosines are multiplied by at first: the inverse of a temperature of .083."""


class Jitter(nn.Module):
    """Normal noise that is added to rows in training alone.

    It is drawn as if entries were positive, and turned with them: where a column
    changes sign, so does its noise.

    Parameters
    ----------
    spread : Tensor of shape (n_inputs,)
        Standard deviation of each column.
    """

    spread: Tensor

    def __init__(self, spread: Tensor) -> None:
        super().__init__()
        self.register_buffer("spread", spread)
        self.silent = not bool(spread.any())

    def forward(self, rows: Tensor) -> Tensor:
        """Add noise to rows."""
        if self.silent or not self.training:
            return rows
        return rows + torch.randn_like(rows) * rows.sign() * self.spread


class TurnedAxes(nn.Module):
    r"""Rotate the leading columns, and cut.

    The rotation is the Cayley transform :math:`(I - A)^{-1} (I + A)` of
    :math:`A = (S - S^\top) / 2`. S mixes columns of different blocks alone: within a
    block no prefix that ends with one sees a rotation.

    Parameters
    ----------
    n_turned : int
        Number of leading columns that take part.
    n_outputs : int
        Number of columns that are kept.
    edges : sequence of int
        Where blocks begin, rising.
    """

    mixed: Tensor

    def __init__(self, n_turned: int, n_outputs: int, edges: Sequence[int]) -> None:
        super().__init__()
        self.skew = nn.Parameter(torch.zeros(n_turned, n_turned))
        self.n_outputs = n_outputs
        ends = torch.tensor(edges, dtype=torch.long)
        block = torch.bucketize(torch.arange(n_turned), ends, right=True)
        self.register_buffer("mixed", (block[:, None] != block).to(self.skew))

    @property
    def rotation(self) -> Tensor:
        """The orthogonal matrix of shape (n_turned, n_turned)."""
        mixing = self.skew * self.mixed / 2
        A = mixing - mixing.T
        identity = torch.eye(len(A)).to(A)
        turned: Tensor = torch.linalg.solve(identity - A, identity + A)
        return turned

    def forward(self, rows: Tensor) -> Tensor:
        """Rotate rows and cut them."""
        m = len(self.skew)
        turned = rows[..., :m] @ self.rotation[:, : self.n_outputs]
        if m >= self.n_outputs:
            return turned
        return torch.cat([turned, rows[..., m : self.n_outputs]], dim=-1)


class LinearMap(nn.Linear):
    """A matrix without a bias.

    Parameters
    ----------
    n_inputs, n_outputs : int
        The widths.
    """

    def __init__(self, n_inputs: int, n_outputs: int) -> None:
        super().__init__(n_inputs, n_outputs, bias=False)


class Adaptor(nn.Module):
    """A perceptron, or rows plus a perceptron that begins at zero.

    Parameters
    ----------
    n_inputs, n_outputs : int
        The widths.
    hidden : sequence of int
        Widths of the hidden layers.
    residual : bool
        Whether the leading columns of the rows are added.
    """

    def __init__(
        self, n_inputs: int, n_outputs: int, hidden: Sequence[int], *, residual: bool
    ) -> None:
        super().__init__()
        self.mlp = build_mlp(n_inputs, n_outputs, hidden)
        self.residual, self.n_outputs = residual, n_outputs
        if residual:
            nn.init.zeros_(self.mlp[-1].weight)  # type: ignore[arg-type]
            nn.init.zeros_(self.mlp[-1].bias)  # type: ignore[arg-type]

    def forward(self, rows: Tensor) -> Tensor:
        """Encode rows."""
        found: Tensor = self.mlp(rows)
        return rows[..., : self.n_outputs] + found if self.residual else found


class Sides(nn.Module):
    """One encoder for rows and their partners, which lie beside each other.

    Parameters
    ----------
    encoder : Module
        The encoder.
    """

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, rows: Tensor) -> Tensor:
        """Encode both halves of the columns."""
        found: Tensor = self.encoder(rows.unflatten(1, (2, -1)))
        return found.flatten(1)


class Leading(nn.Module):
    """A loss of the leading columns of one side, or of two that lie beside each other.

    Parameters
    ----------
    loss : Module
        Gets embeddings of shape (n_rows, n_columns), or (n_rows, 2, n_columns).
    n_columns : int
        How many columns of each side it sees.
    n_sides : {1, 2}
        Number of sides.
    """

    def __init__(self, loss: nn.Module, n_columns: int, n_sides: int) -> None:
        super().__init__()
        self.loss, self.n_columns, self.n_sides = loss, n_columns, n_sides

    def forward(
        self, embeddings: Tensor, y: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a batch."""
        if self.n_sides > 1:
            embeddings = embeddings.unflatten(1, (self.n_sides, -1))
        found: Tensor = self.loss(embeddings[..., : self.n_columns], y, sample_weight)
        return found


class PrefixHeads(nn.Module):
    """Linear heads on prefixes: cross-entropy of classes, or squared error of numbers.

    Parameters
    ----------
    n_outputs : int
        Number of classes, or 1.
    prefixes : sequence of int
        Lengths of the prefixes that are asked for.
    tied : bool
        Whether all prefixes share one head, of whose columns a prefix sees the first,
        and its bias.
    """

    def __init__(self, n_outputs: int, prefixes: Sequence[int], *, tied: bool) -> None:
        super().__init__()
        self.tied = tied
        lengths = [max(prefixes)] if tied else list(prefixes)
        self.order = {k: place for place, k in enumerate(lengths)}
        self.heads = nn.ModuleList(nn.Linear(k, n_outputs) for k in lengths)

    def start(self, weight: Tensor, bias: Tensor) -> None:
        """Set where the heads begin.

        Parameters
        ----------
        weight : Tensor of shape (n_outputs, n_columns)
            Weights of at least as many columns as the longest head has.
        bias : Tensor of shape (n_outputs,)
            The bias.
        """
        with torch.no_grad():
            for head in self._all():
                head.weight.copy_(weight[:, : head.in_features])
                head.bias.copy_(bias)

    def forward(
        self, embeddings: Tensor, y: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a prefix."""
        k = embeddings.shape[1]
        head = self._all()[0] if self.tied else self._all()[self.order[k]]
        scores = embeddings @ head.weight[:, :k].T + head.bias
        if y.is_floating_point():
            values = (scores[:, 0] - y).square()
        else:
            values = nn.functional.cross_entropy(scores, y, reduction="none")
        weight = _weights(values, sample_weight)
        return mean_over_rows(values, weight).to(values.dtype)

    def _all(self) -> list[Any]:
        return list(self.heads)


class PairContrast(nn.Module):
    r"""Cross-entropy of finding one's partner in the batch, both ways.

    :math:`-\log \operatorname{softmax}_j (s \cos(a_i, b_j))_i`, and the same with the
    sides exchanged. Pairs that share a row with pair i are no negatives of it. The
    scale s, the inverse of the temperature, is learned for every length.

    Parameters
    ----------
    prefixes : sequence of int
        Lengths of the prefixes that are asked for.
    """

    def __init__(self, prefixes: Sequence[int]) -> None:
        super().__init__()
        self.growth = nn.ParameterDict(
            {str(k): nn.Parameter(torch.zeros(())) for k in prefixes}
        )

    def forward(
        self, embeddings: Tensor, y: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a prefix.

        Parameters
        ----------
        embeddings : Tensor of shape (n_pairs, 2, n_columns)
            Rows and their partners.
        y : Tensor of shape (n_pairs, 2)
            Numbers of the rows and of the partners, the same for equal ones.
        sample_weight : Tensor of shape (n_pairs,), default=None
            Weights of the pairs.

        Returns
        -------
        Tensor of shape ()
            The loss.
        """
        own, other = _units(embeddings).unbind(1)
        scale = FIRST_SCALE * self.growth[str(embeddings.shape[-1])].exp()
        scores = scale * (own @ other.T)
        weight = _weights(scores, sample_weight)
        rows, partners = y.unbind(1)
        same = (rows[:, None] == rows) | (partners[:, None] == partners)
        same.fill_diagonal_(False)
        counted = weight.log().to(scores).repeat(len(y), 1).fill_diagonal_(0.0)
        counted = counted.masked_fill(same, -torch.inf)
        own_score = scores.diagonal()
        surprise = [
            torch.logsumexp(one + counted, dim=1) - own_score
            for one in (scores, scores.T)
        ]
        return mean_over_rows((surprise[0] + surprise[1]) / 2, weight).to(scores.dtype)


class TeacherCosines(nn.Module):
    """Mean square of what is wrong with the cosines between the rows of a batch."""

    def forward(
        self, embeddings: Tensor, y: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a prefix.

        Parameters
        ----------
        embeddings : Tensor of shape (n_rows, n_columns)
            Cut rows.
        y : Tensor of shape (n_rows, n_full)
            Whole rows.
        sample_weight : Tensor of shape (n_rows,), default=None
            Weights of the rows: a row of weight w is w rows, in pairs with each other.

        Returns
        -------
        Tensor of shape ()
            The loss.
        """
        units, full = _units(embeddings), _units(y)
        wrong = (units @ units.T - full @ full.T).square()
        weight = _weights(wrong, sample_weight)
        n_pairs = (weight.sum() ** 2 - weight.sum()).clamp(min=1.0)
        apart = torch.outer(weight, weight).fill_diagonal_(0.0)
        return ((apart * wrong).sum() / n_pairs).to(embeddings.dtype)


def training_state(network: nn.Module) -> Mapping[str, Any]:
    """Take what was learned out of a network.

    Parameters
    ----------
    network : Module
        `TurnedAxes`, `Adaptor` or `LinearMap`, within `Sides` and after `Jitter`.

    Returns
    -------
    mapping
        "rotation" or "matrix", as arrays, or "layers", as lists of coefficients and
        intercepts.
    """
    for part in network.modules():
        if isinstance(part, TurnedAxes):
            return {"rotation": part.rotation.detach().cpu().numpy()}
        if isinstance(part, LinearMap):
            return {"matrix": part.weight.detach().cpu().numpy()}
    return {"layers": mlp_arrays(network)}


def _weights(values: Tensor, sample_weight: Tensor | None) -> Tensor:
    if sample_weight is not None:
        return sample_weight.double()
    return torch.ones(len(values), dtype=torch.float64, device=values.device)


def _units(rows: Tensor) -> Tensor:
    if rows.shape[-1] == 1:
        # The slope is zero, and not the rounding of a difference.
        return rows.sign()
    norms = torch.linalg.vector_norm(rows, dim=-1, keepdim=True)
    return rows / torch.where(norms > 0, norms, 1)
