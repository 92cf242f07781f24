"""The norms that a shrinking map takes away, given back."""

from typing import Any

import numpy as np

from skrep.geometry import row_norms
from skrep.typing import FloatArray

__all__ = ["norm_law", "restore", "restored_norms"]


def norm_law(
    norms: FloatArray, partner_norms: FloatArray, weights: FloatArray
) -> tuple[float, float]:
    r"""Power law between the norms of paired rows.

    The exponent p of :math:`\|q\| \approx f \|p\|^p` is the weighted least-squares
    slope of the logarithms, kept between 0 (norms of the source say nothing: all
    rows get one norm) and 1 (norms are proportional, as under a similarity). The
    factor f gives the pairs the root-mean-square norm of their partners.

    Parameters
    ----------
    norms, partner_norms : ndarray of shape (n_pairs,)
        Norms of the centered rows.
    weights : ndarray of shape (n_pairs,)
        Positive weights.

    Returns
    -------
    exponent, factor : float
        The law. A factor of 0 sends every row to the center.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.relative._alignment_norms import norm_law
    >>> norms, partners = np.array([1.0, 4.0]), np.array([3.0, 6.0])
    >>> exponent, factor = norm_law(norms, partners, np.ones(2))
    >>> round(exponent, 4), round(factor, 4)
    (0.5, 3.0)
    """
    # Rows next to the center would dominate a regression of logarithms.
    usable = (norms > 1e-6 * norms.max(initial=0.0)) & (
        partner_norms > 1e-6 * partner_norms.max(initial=0.0)
    )
    if not usable.any():
        return 1.0, 0.0
    share = weights[usable] / weights[usable].sum()
    source, target = np.log(norms[usable]), np.log(partner_norms[usable])
    source, target = source - share @ source, target - share @ target
    spread = float(share @ source**2)
    # Norms that are all alike up to rounding carry no slope: stay proportional.
    slope = float(share @ (source * target)) / spread if spread > 1e-16 else 1.0
    exponent = min(1.0, max(0.0, slope))
    lawful = restored_norms(norms, exponent, 1.0)
    return exponent, float(
        np.sqrt((weights @ partner_norms**2) / (weights @ lawful**2))
    )


def restored_norms(norms: FloatArray, exponent: float, factor: float) -> FloatArray:
    """Norms that a law gives to rows; a row at the center stays there."""
    result: Any = np.where(norms > 0, norms, 1) ** exponent * factor
    return np.where(norms > 0, result, 0)


def restore(
    out: FloatArray,
    moved: FloatArray,
    coef: FloatArray,
    law: tuple[float, float],
    scale: float,
    y_scale: float,
) -> None:
    """Give mapped rows their lawful norms, in place.

    Parameters
    ----------
    out : ndarray of shape (n_rows, n_outputs)
        Mapped rows; overwritten.
    moved : ndarray of shape (n_rows, n_features)
        The centered rows that were mapped.
    coef : ndarray of shape (n_features, n_outputs)
        The map.
    law : tuple of float
        Exponent and factor, from `norm_law`.
    scale, y_scale : float
        The units of the law's norms, before and after.
    """
    norms, mapped = row_norms(moved), row_norms(out)
    lawful = restored_norms(norms / scale, *law) * y_scale
    # An image of pure rounding has no direction to restore.
    rounding = 10 * coef.shape[0] * float(np.finfo(out.dtype).eps)
    size = float(np.linalg.norm(coef.astype(np.float64))) / coef.shape[0] ** 0.5
    known = mapped > rounding * size * norms
    ratio = np.ones_like(mapped)
    np.divide(lawful, mapped, out=ratio, where=known, casting="same_kind")
    out *= ratio[:, None]
