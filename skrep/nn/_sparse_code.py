"""A dictionary whose atoms code a row: the network of sparse codes, and its loss."""

import torch
from torch import Tensor, nn

from skrep.nn.losses._rows import mean_over_rows
from skrep.typing import FloatArray

__all__ = ["SparseCodeLoss", "SparseCoder"]

TEMPERATURE = 0.1
RECONSTRUCTION = 0.1
LONGER = 4


class SparseCoder(nn.Module):
    r"""Code rows by their largest products with unit atoms.

    .. math:: z = \operatorname{TopK}(\operatorname{ReLU}(W (x - b) + c)), \qquad
              \hat x = b + s W^\top z

    The same atoms read and write. The length s is that of least squares, row by row:
    atoms that resemble each other add up to too much.

    Parameters
    ----------
    atoms : ndarray of shape (n_atoms, n_features)
        Where the atoms start.
    n_active : int
        Number of atoms that code a row, at most ``n_atoms``.
    patience : int
        Training steps without a row after which an atom counts as dead.
    """

    idle: Tensor

    def __init__(self, atoms: FloatArray, n_active: int, patience: int) -> None:
        super().__init__()
        n_atoms, n_features = atoms.shape
        self.n_active = n_active
        self.patience = patience
        self.atoms = nn.Parameter(torch.tensor(atoms))
        self.offset = nn.Parameter(torch.zeros(n_atoms))
        self.center = nn.Parameter(torch.zeros(n_features))
        self.register_buffer("idle", torch.zeros(n_atoms, dtype=torch.long))

    def units(self) -> Tensor:
        """Give the atoms at norm one.

        Returns
        -------
        Tensor of shape (n_atoms, n_features)
            The atoms.
        """
        return nn.functional.normalize(self.atoms, dim=1)

    def forward(self, rows: Tensor) -> Tensor:
        """Code rows, and say how well that went.

        Parameters
        ----------
        rows : Tensor of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        Tensor of shape (n_rows, 1 + n_features + 2 n_atoms)
            The loss of reconstruction, the centered row, its code, and its code of a
            quarter of the active atoms.
        """
        atoms, gaps = self.units(), rows - self.center
        products = torch.relu(gaps @ atoms.T + self.offset)
        k = self.n_active
        values, places = products.topk(min(LONGER * k, len(atoms)), dim=1)
        full, short, long = (
            torch.zeros_like(products).scatter(1, places[:, :n], values[:, :n])
            for n in (k, max(1, k // LONGER), values.shape[1])
        )
        rest = _rest(gaps, full @ atoms)
        missed = _squares(rest) + _squares(_rest(gaps, long @ atoms)) / 8
        missed = missed + self._revival(products, rest.detach(), atoms, full) / 32
        return torch.cat([missed[:, None], gaps, full, short], dim=1)

    def _revival(
        self, products: Tensor, rest: Tensor, atoms: Tensor, codes: Tensor
    ) -> Tensor:
        """Squares of what dead atoms leave of the rest."""
        if self.training:
            used = (codes.detach() > 0).any(dim=0)
            self.idle = torch.where(used, 0, self.idle + 1)
        dead = torch.nonzero(self.idle > self.patience)[:, 0]
        if not len(dead):
            return torch.zeros_like(rest[:, 0])
        values, places = products[:, dead].topk(
            min(LONGER * self.n_active, len(dead)), dim=1
        )
        codes = torch.zeros_like(products[:, dead]).scatter(1, places, values)
        return _squares(_rest(rest, codes @ atoms[dead]))


class SparseCodeLoss(nn.Module):
    r"""Reconstruct rows, and let codes resemble each other as they should.

    .. math:: \tfrac{1}{10} \bigl(R_k + R_{4k} / 8 + A / 32\bigr) + C_k + C_{k/4}

    R is the mean square that a code of so many atoms misses of a row, A what dead atoms
    miss of the rest, and C the cross-entropy of a search by the cosine of codes: with
    classes of finding any row of one's class [1]_, else of finding all others as often
    as the cosines of the rows themselves say.

    Parameters
    ----------
    n_features, n_atoms : int
        Widths of rows and codes.
    supervised : bool
        Whether targets are classes.

    References
    ----------
    .. [1] Goldberger, J., Roweis, S., Hinton, G. and Salakhutdinov, R. (2004).
       Neighbourhood components analysis. NeurIPS 17.
    """

    def __init__(self, n_features: int, n_atoms: int, supervised: bool) -> None:
        super().__init__()
        self.widths = [1, n_features, n_atoms, n_atoms]
        self.supervised = supervised

    def forward(
        self, outputs: Tensor, targets: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a batch.

        Parameters
        ----------
        outputs : Tensor of shape (n_rows, 1 + n_features + 2 n_atoms)
            What a `SparseCoder` gives.
        targets : Tensor of shape (n_rows,)
            Classes, as integers.
        sample_weight : Tensor of shape (n_rows,), default=None
            Weights of the rows.

        Returns
        -------
        Tensor of shape ()
            The loss.
        """
        missed, rows, *codes = outputs.split(self.widths, dim=1)
        weight = targets.new_ones(len(targets), dtype=torch.float64)
        if sample_weight is not None:
            weight = sample_weight.double()
        loss = RECONSTRUCTION * mean_over_rows(missed[:, 0], weight)
        for z in codes:
            if self.supervised:
                loss = loss + class_search(z, targets, weight, TEMPERATURE)
            else:
                loss = loss + cosine_contrast(z, rows.detach(), weight, TEMPERATURE)
        return loss.to(outputs.dtype)


def cosine_contrast(
    codes: Tensor, rows: Tensor, weight: Tensor, temperature: float
) -> Tensor:
    """Cross-entropy of finding by codes the rows that are near by themselves.

    Parameters
    ----------
    codes : Tensor of shape (n_rows, n_atoms)
        Codes.
    rows : Tensor of shape (n_rows, n_features)
        Rows; each of the others is to be found as often as the softmax of the cosines
        says.
    weight : Tensor of shape (n_rows,), float64
        Positive weights: a row stands for so many, which are others of each other.
    temperature : float
        Divisor of the cosines.

    Returns
    -------
    Tensor of shape ()
        Mean over the rows that have others; 0 where none has.
    """
    others = _others(weight)
    found = others.sum(1) > 0
    shares = others[found].log().to(codes.dtype)
    scores, aims = (
        units[found] @ units.T / temperature
        for units in (nn.functional.normalize(part, dim=1) for part in (codes, rows))
    )
    total = torch.logsumexp(scores + shares, dim=1, keepdim=True)
    aim = torch.softmax(aims + shares, dim=1)
    return mean_over_rows((aim * (total - scores)).sum(1), weight[found])


def class_search(
    codes: Tensor, classes: Tensor, weight: Tensor, temperature: float
) -> Tensor:
    """Cross-entropy of finding any row of one's class by codes.

    Parameters
    ----------
    codes : Tensor of shape (n_rows, n_atoms)
        Codes.
    classes : Tensor of shape (n_rows,)
        Classes.
    weight : Tensor of shape (n_rows,), float64
        Positive weights: a row stands for so many, which are others of each other.
    temperature : float
        Divisor of the cosines.

    Returns
    -------
    Tensor of shape ()
        Mean over the rows that have others of their class; 0 where none has.
    """
    others = _others(weight)
    same = others * (classes[:, None] == classes)
    found = same.sum(1) > 0
    units = nn.functional.normalize(codes, dim=1)
    scores = units[found] @ units.T / temperature
    total, own = (
        torch.logsumexp(scores + shares[found].log().to(codes.dtype), dim=1)
        for shares in (others, same)
    )
    return mean_over_rows(total - own, weight[found])


def _others(weight: Tensor) -> Tensor:
    """How many rows each row stands for, less the one that looks."""
    others = weight.repeat(len(weight), 1)
    others.diagonal().copy_(weight - weight.clamp(max=1))
    return others


def _rest(rows: Tensor, estimates: Tensor) -> Tensor:
    """What the best multiple of an estimate leaves of a row."""
    squares = _squares(estimates)
    length = (rows * estimates).sum(1) / torch.where(squares > 0, squares, 1)
    return rows - length[:, None] * estimates


def _squares(rows: Tensor) -> Tensor:
    return rows.square().sum(1)
