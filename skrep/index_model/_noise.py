"""What is noise among Stein moments: edges from the moments alone."""

from typing import NamedTuple

import numpy as np

from skrep.index_model._features import Features
from skrep.typing import FloatArray

__all__ = [
    "SecondOrder",
    "first_order_edge",
    "gaussian_reach",
    "noise_excess",
    "second_order",
]

_MARGIN = 1.2
"""How far beyond the edge of noise an eigenvalue of order two must lie."""

_COUNTED = 1.3
"""The same where directions are counted: the largest of many decides."""

_MOST = 2.0
"""How much more than the whole a slice may vary, and still count for more."""

# Median absolute value of the semicircle law on [-1, 1].
_SEMICIRCLE_MEDIAN = 0.4039727532995173

# From this rank on the bulk of eigenvalues tells their noise.
_MIN_BULK = 4


class SecondOrder(NamedTuple):
    """Symmetric matrices of order two, with the size of their noise.

    Parameters
    ----------
    matrices : ndarray of shape (n_matrices, rank, rank)
        One for each group of slices, or for each response feature.
    edges : ndarray of shape (n_matrices,)
        An eigenvalue of no larger size may be noise.
    bounds : ndarray of shape (n_matrices,)
        How large an eigenvalue may count.
    excess : float
        Variance of the noise in units of that of Gaussian rows, at least 1.
    noise : ndarray of shape (n_examples, rank, rank) or None
        Examples of the noise, where there are halves.
    """

    matrices: FloatArray
    edges: FloatArray
    bounds: FloatArray
    excess: float
    noise: FloatArray | None

    def cleaned(self) -> FloatArray:
        """Set eigenvalues that may be noise to zero, and bound the others.

        Returns
        -------
        ndarray of shape (n_matrices, rank, rank)
            The matrices.
        """
        values, vectors = np.linalg.eigh(self.matrices)
        values = np.where(np.abs(values) > self.edges[:, None], values, 0.0)
        values = np.clip(values, -self.bounds[:, None], self.bounds[:, None])
        return (vectors * values[:, None, :]) @ vectors.transpose(0, 2, 1)

    def largest(self, basis: FloatArray) -> float:
        """Size of the largest eigenvalue of any matrix in a subspace.

        Parameters
        ----------
        basis : ndarray of shape (rank, n_dimensions)
            Orthonormal columns.

        Returns
        -------
        float
            The largest spectral norm.
        """
        return _norm(basis.T @ self.matrices @ basis)

    def widest(self, basis: FloatArray) -> float:
        """Edge for all matrices, from what the noise is in a subspace.

        Signal makes the halves of outer slices differ, too: only beyond the leading
        directions do they differ by noise alone.

        Parameters
        ----------
        basis : ndarray of shape (rank, n_dimensions)
            Orthonormal columns that span the complement of the leading directions.

        Returns
        -------
        float
            The edge, scaled from the dimensions of the subspace to all.
        """
        if self.noise is None:
            return float(self.edges.max())
        rank, inner = basis.shape
        factor = _COUNTED * np.sqrt(rank / inner)
        return float(factor * _norm(basis.T @ self.noise @ basis))


def first_order_edge(n_rows: float, rank: int, n_features: int) -> float:
    r"""Largest eigenvalue of :math:`\sum_g a_g a_g^\top` without any signal.

    Rows are whitened by their own moments, so it is the edge of squared canonical
    correlations of noise, :math:`(\sqrt{p(n-q)} + \sqrt{q(n-p)})^2 / n^2` [1]_; of
    fewer rows than that holds for, :math:`(\sqrt p + \sqrt q)^2 / n`.

    Parameters
    ----------
    n_rows : float
        Number of rows n.
    rank : int
        Number of whitened coordinates p.
    n_features : int
        Dimensions q of the response features.

    Returns
    -------
    float
        The edge, at most 1.

    References
    ----------
    .. [1] Wachter, K. W. (1980). The limiting empirical measure of multiple
       discriminant ratios. The Annals of Statistics, 8(5), 937-957.
    """
    n, p, q = n_rows, float(rank), float(n_features)
    if n > p + q:
        edge = (np.sqrt(p * (n - q)) + np.sqrt(q * (n - p))) ** 2 / n**2
    else:
        edge = (np.sqrt(p) + np.sqrt(q)) ** 2 / n
    return float(min(edge, 1.0))


def gaussian_reach(rank: int, n_rows: float) -> float:
    r"""Largest eigenvalue of order two that Gaussian noise is likely to have.

    Beyond the semicircle edge :math:`2 \sqrt{p / n}` eigenvalues reach as in the law of
    Tracy and Widom, by a share of the order :math:`p^{-2/3}`; its factor 1.25 holds a
    level of 5 % over ten matrices, by simulation.

    Parameters
    ----------
    rank : int
        Number of whitened coordinates p.
    n_rows : float
        Number of rows n.

    Returns
    -------
    float
        The eigenvalue.
    """
    return float(2 * np.sqrt(rank / n_rows) * (1 + 1.25 * rank ** (-2 / 3)))


def second_order(features: list[Features], n_rows: float) -> SecondOrder:
    r"""Matrices of order two and the edges of their noise.

    Of slices the moment is freed from what order one implies,

    .. math:: C_h = A_h - a_h a_h^\top / \sqrt{p_h} = \sqrt{p_h} (\Sigma_h - I),

    so that its noise is independent of that of order one. Neighboring slices of a
    number are taken together; the covariances of the two halves differ by noise and
    little else, so their difference, scaled to the noise of the whole, is an example of
    it, heavy tails included. The edge is 1.2 times its largest eigenvalue, and no less
    than 1.2 times the median of those, nor than Gaussian noise is likely to reach; see
    `gaussian_reach`. The excess is the upper quartile of the sizes of noise. Of
    classes and of numbers there are no halves: the bulk of the eigenvalues then tells
    how much wider than Gaussian the noise is.

    Where rows are skewed, the variance within a slice may be many times that of all
    rows, while the sharpest link can but let it vanish. More than three times as much
    counts as three times.

    Parameters
    ----------
    features : list of Features
        Moments of each response, with those of order two.
    n_rows : float
        Number of rows.

    Returns
    -------
    SecondOrder
        The matrices of all responses.
    """
    stacked, noise, sizes = _split(features)
    gaussian = 2 * np.sqrt(stacked.shape[1] / n_rows)
    excess = _excess(stacked, noise, n_rows)
    if noise is None:
        edges = np.full(len(stacked), gaussian * np.sqrt(excess))
    else:
        own = np.abs(np.linalg.eigvalsh(noise)).max(axis=1, initial=0.0)
        edges = np.maximum(own, max(gaussian, float(np.median(own))))
    edges = np.maximum(_MARGIN * edges, gaussian_reach(stacked.shape[1], n_rows))
    return SecondOrder(stacked, edges, _MOST * sizes, excess, noise)


def noise_excess(features: list[Features], n_rows: float) -> float:
    """Tell the variance of noise of order two, in units of that of Gaussian rows.

    Parameters
    ----------
    features : list of Features
        Moments of each response, with those of order two.
    n_rows : float
        Number of rows.

    Returns
    -------
    float
        The variance, at least 1.
    """
    matrices, noise, _ = _split(features)
    return _excess(matrices, noise, n_rows)


def _split(
    features: list[Features],
) -> tuple[FloatArray, FloatArray | None, FloatArray]:
    """Matrices of all responses, examples of their noise, and roots of shares.

    There are no examples unless there are halves of slices, and no shares of numbers.
    """
    matrices, noises, roots = [], [], []
    for one in features:
        groups = _neighbors(one)
        if groups is None:
            matrices.append(_cumulants(one))
            infinite = np.full(len(one.first), np.inf)
            roots.append(infinite if one.shares is None else np.sqrt(one.shares))
        else:
            assert one.shares is not None
            paired, noise = _halves(one, groups)
            matrices.append(paired)
            noises.append(noise)
            roots.append(np.sqrt([one.shares[group].sum() for group in groups]))
    every = len(noises) == len(features)
    noise_or_none = np.concatenate(noises) if every else None
    return np.concatenate(matrices), noise_or_none, np.concatenate(roots)


def _excess(matrices: FloatArray, noise: FloatArray | None, n_rows: float) -> float:
    rank = matrices.shape[1]
    if noise is not None:
        sizes = np.einsum("gij,gij->g", noise, noise) * n_rows / (rank * (rank + 1))
        return max(1.0, float(np.quantile(sizes, 0.75)))
    if rank < _MIN_BULK:
        return 1.0
    width = np.median(np.abs(np.linalg.eigvalsh(matrices)), axis=1)
    gaussian = 2 * np.sqrt(rank / n_rows) * _SEMICIRCLE_MEDIAN
    return max(1.0, float(np.median(width) / gaussian) ** 2)


def _norm(matrices: FloatArray) -> float:
    """Largest size of an eigenvalue of symmetric matrices."""
    return float(np.abs(np.linalg.eigvalsh(matrices)).max(initial=0.0))


def _neighbors(one: Features) -> list[list[int]] | None:
    """Pairs of neighboring slices, the last of three if they are odd."""
    if not one.ordered or len(one.first) < 4:
        return None
    order = list(range(len(one.first)))
    pairs = [order[k : k + 2] for k in range(0, len(order) - 1, 2)]
    if len(order) % 2:
        pairs[-1].append(order[-1])
    return pairs


def _cumulants(one: Features) -> FloatArray:
    assert one.second is not None
    if one.shares is None:
        return one.second
    outer = one.first[:, :, None] * one.first[:, None, :]
    return one.second - outer / np.sqrt(one.shares)[:, None, None]


def _halves(one: Features, groups: list[list[int]]) -> tuple[FloatArray, FloatArray]:
    """Matrices of pairs of slices, and examples of their noise."""
    assert one.shares is not None
    lower, upper = np.zeros((2, len(groups), len(one.shares)))
    for place, (first, *others) in enumerate(groups):
        lower[place, first] = 1.0
        upper[place, others] = 1.0
    p, covariance_p = _pooled(one, lower)
    q, covariance_q = _pooled(one, upper)
    share, covariance = _pooled(one, lower + upper)
    factors = np.sqrt(p * q / share)[:, None, None]
    noise = factors * (covariance_p - covariance_q)
    return np.sqrt(share)[:, None, None] * covariance, noise


def _pooled(one: Features, members: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shares of unions of slices, and their covariances less the identity."""
    assert one.second is not None
    assert one.shares is not None
    roots = np.sqrt(one.shares)
    shares = members @ one.shares
    weights = members * roots / shares[:, None]
    means = weights @ one.first
    seconds = np.tensordot(weights, one.second, axes=1)
    return shares, seconds - means[:, :, None] * means[:, None, :]
