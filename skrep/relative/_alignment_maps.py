"""Linear maps from one space to another, fitted on paired rows.

Every map lives in the span of the source's rows. `decompose` finds that span once,
P = U diag(s) V'; each method then gives a small matrix H, of shape (rank,
n_outputs), and its coefficients are V H. Trying another penalty costs no SVD.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from skrep.linalg import canonical_directions, compact_svd, gcv_scores, softened
from skrep.typing import FloatArray

__all__ = [
    "ALPHAS",
    "SOFTNESSES",
    "Choice",
    "PairedSpan",
    "Pairs",
    "center_and_scale",
    "choices",
    "decompose",
    "gcv_alpha",
    "maps",
]

# Relative to the mean squared norm of a source row: 1 lets the target of the
# shrinkage weigh as much as one average pair. The strongest comes first, so that of
# equal choices the simplest map wins.
ALPHAS = (np.inf, 30.0, 10.0, 3.0, 1.0, 0.3, 0.03, 0.0)
SOFTNESSES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
_WEAK_ALPHAS = (1e3, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 0.0)
_GCV_ALPHAS = np.logspace(3, -8, 45)


class Choice(NamedTuple):
    """One setting of the parameters that the pairs may choose."""

    alpha: float
    softness: float = 0.0


class Pairs(NamedTuple):
    """Centered and scaled pairs, and what undoes that."""

    P: FloatArray
    Q: FloatArray
    mean: FloatArray
    y_mean: FloatArray
    scale: float
    y_scale: float


class PairedSpan(NamedTuple):
    """The span of the source rows and what the pairs say on it."""

    V: FloatArray
    s: FloatArray
    B: FloatArray
    square: float
    y_V: FloatArray
    y_s: FloatArray
    y_square: float


def center_and_scale(
    X: FloatArray, Y: FloatArray, weights: FloatArray, center: bool, scale: bool
) -> Pairs:
    """Subtract each side's weighted mean and divide by its root-mean-square norm.

    Parameters
    ----------
    X : ndarray of shape (n_pairs, n_features)
        Source rows.
    Y : ndarray of shape (n_pairs, n_outputs)
        Their partners.
    weights : ndarray of shape (n_pairs,)
        Positive weights.
    center, scale : bool
        Whether to do either; without it the mean is 0, the scale 1.

    Returns
    -------
    Pairs
        The pairs, means and scales. A side of identical rows keeps scale 1.
    """
    share = weights / weights.sum()

    def one_side(rows: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        mean = share @ rows if center else np.zeros(rows.shape[1])
        centered = rows - mean
        rms = float(np.sqrt(share @ np.einsum("ij,ij->i", centered, centered)))
        # Below this the centered rows are the rounding of identical ones.
        noise = 10 * np.finfo(np.float64).eps * float(np.abs(rows).max(initial=0.0))
        if rms <= noise:
            centered[:] = 0
            return centered, mean, 1.0
        return (centered / rms, mean, rms) if scale else (centered, mean, 1.0)

    P, mean, x_scale = one_side(X)
    Q, y_mean, y_scale = one_side(Y)
    return Pairs(P, Q, mean, y_mean, x_scale, y_scale)


def decompose(
    P: FloatArray, Q: FloatArray, weights: FloatArray, both: bool = False
) -> PairedSpan:
    """Find the span of the source rows; of the target rows too if asked.

    Parameters
    ----------
    P : ndarray of shape (n_pairs, n_features)
        Centered source rows.
    Q : ndarray of shape (n_pairs, n_outputs)
        Centered target rows.
    weights : ndarray of shape (n_pairs,)
        Positive weights.
    both : bool, default=False
        Also decompose Q, which "cca" needs.

    Returns
    -------
    PairedSpan
        Right vectors V, singular values s, B = U'Q, and the mean squared norms.
    """
    roots = np.sqrt(weights)[:, None]
    U, s, Vt = compact_svd(P * roots)
    weighted = Q * roots
    total = float(weights.sum())
    y_V: FloatArray = np.zeros((Q.shape[1], 0))
    y_s: FloatArray = np.zeros(0)
    if both:
        _, y_s, y_Vt = compact_svd(weighted)
        y_V = y_Vt.T
    return PairedSpan(
        Vt.T,
        s,
        U.T @ weighted,
        float(s @ s) / total,
        y_V,
        y_s,
        float(np.vdot(weighted, weighted)) / total,
    )


def choices(method: str, alpha: float | str, square: float) -> list[Choice]:
    """List the settings to choose from; a single one where nothing is open.

    Parameters
    ----------
    method : str
        The method.
    alpha : float or "cv"
        A penalty, or "cv" for a grid of them.
    square : float
        Mean squared norm of a source row: grids are in its units.

    Returns
    -------
    list of Choice
        Of equally good ones the first is to be taken.
    """
    if method in ("orthogonal", "affine"):
        return [Choice(np.inf if method == "orthogonal" else 0.0)]
    if isinstance(alpha, str):
        grid = ALPHAS if method == "shrunk" else _WEAK_ALPHAS
        penalties = [a * square if square else a for a in grid]
    else:
        penalties = [float(alpha)]
    softnesses = SOFTNESSES if method == "shrunk" else (0.0,)
    return [Choice(a, t) for t in softnesses for a in penalties]


def gcv_alpha(
    span: PairedSpan, Q: FloatArray, weights: FloatArray, n_free: int
) -> float:
    """Penalty of a ridge map with the least generalized cross-validation score.

    Parameters
    ----------
    span : PairedSpan
        The span of all pairs.
    Q : ndarray of shape (n_pairs, n_outputs)
        Centered target rows.
    weights : ndarray of shape (n_pairs,)
        Positive weights; their sum counts as the number of rows.
    n_free : int
        1 if the rows were centered by their mean, else 0.

    Returns
    -------
    float
        The penalty.
    """
    projected = np.einsum("ij,ij->i", span.B, span.B)
    residual = float(weights @ np.einsum("ij,ij->i", Q, Q)) - float(projected.sum())
    penalties = _GCV_ALPHAS * (span.square or 1.0)
    scores = gcv_scores(
        span.s, projected, max(0.0, residual), penalties, float(weights.sum()), n_free
    )
    return float(penalties[np.argmin(scores)])


def maps(
    method: str, span: PairedSpan, settings: Iterable[Choice], n_components: int | None
) -> Iterator[FloatArray]:
    r"""One map per setting, as coefficients on the basis of the span.

    ========== =====================================================================
    method     H, where :math:`P = U S V^\top` and :math:`B = U^\top Q`
    ========== =====================================================================
    shrunk     :math:`(S^2 + \lambda)^{-1} (S B + \lambda H_0)`, with :math:`H_0` the
               soft partial isometry of :math:`S B` times its least-squares scale
    orthogonal :math:`H_0` without softness
    ridge      :math:`(S^2 + \lambda)^{-1} S B`
    affine     :math:`S^{-1} B`
    low_rank   :math:`(S^2 + \lambda)^{-1/2} \mathrm{trunc}_k\left(
               (S^2 + \lambda)^{-1/2} S B\right)`
    cca        :math:`W_P \Sigma W_Q^\top (Q^\top Q + \lambda_Q I)`
    ========== =====================================================================

    Parameters
    ----------
    method : str
        The method.
    span : PairedSpan
        The span of the pairs; decomposed on both sides for "cca".
    settings : iterable of Choice
        Penalties and softnesses.
    n_components : int or None
        Rank bound of "low_rank" and "cca".

    Yields
    ------
    ndarray of shape (rank, n_outputs)
        H; the coefficients are V H.
    """
    s, cross = span.s[:, None], span.s[:, None] * span.B
    if method in ("shrunk", "orthogonal"):
        U, sigma, Vt = compact_svd(cross)
        rotations: dict[float, FloatArray] = {}
    for penalty, softness in settings:
        if method in ("shrunk", "orthogonal"):
            if softness not in rotations:
                H = (U * softened(sigma, softness)) @ Vt
                rotations[softness] = _to_scale(H, s, cross)
            kept = s**2 / (s**2 + penalty)
            yield kept * span.B / s + (1 - kept) * rotations[softness]
        elif method == "low_rank" and n_components is not None:
            roots = np.sqrt(s**2 + penalty)
            U, sigma, Vt = compact_svd(cross / roots)
            k = slice(n_components)
            yield (U[:, k] * sigma[k]) @ Vt[k] / roots
        elif method == "cca":
            yield _canonical_map(span, penalty, n_components)
        else:
            yield cross / (s**2 + penalty)


def _to_scale(H: FloatArray, s: FloatArray, cross: FloatArray) -> FloatArray:
    """Multiply a map by its least-squares scale."""
    square = float(np.vdot(s * H, s * H))
    return H * (float(np.vdot(H, cross)) / square) if square else H


def _canonical_map(
    span: PairedSpan, penalty: float, n_components: int | None
) -> FloatArray:
    # The target is penalized as strongly as the source, relative to its norms.
    y_penalty = penalty * (span.y_square / span.square if span.square else 1.0)
    overlap = span.B @ span.y_V / span.y_s
    W, W_y, correlations = canonical_directions(
        span.s, overlap, span.y_s, penalty, y_penalty, n_components
    )
    return (
        (W * correlations) @ (W_y * (span.y_s**2 + y_penalty)[:, None]).T @ span.y_V.T
    )
