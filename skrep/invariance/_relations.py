"""How far two outputs are from answering a relation: pure functions of arrays."""

from collections.abc import Callable
from typing import Final

import numpy as np
from scipy.linalg import orthogonal_procrustes, subspace_angles
from scipy.spatial.distance import pdist

from skrep.invariance._elements import Element
from skrep.typing import AnyArray, FloatArray

__all__ = ["deviation"]


def _table(Z: AnyArray, relation: str) -> FloatArray:
    if Z.dtype.kind not in "fiub":
        raise TypeError(
            f"check_invariance: the output holds {Z.dtype} entries. Relation "
            f"{relation!r} compares numbers. Claim 'unchanged' or 'same_action', or "
            "choose another output with method=."
        )
    Z = Z.astype(np.float64)
    return Z.reshape(-1, 1) if Z.ndim == 1 else Z


def _relative(worst: float, reference: FloatArray) -> float:
    """Divide by the root mean square of the reference; 0 / 0 is no deviation."""
    if worst == 0.0:
        return 0.0
    rms = float(np.sqrt(np.mean(np.square(reference))))
    ratio = worst / rms if rms > 0 else np.inf
    return float(ratio) if np.isfinite(ratio) else np.inf


def _difference(expected: AnyArray, observed: AnyArray) -> float:
    """Largest difference over the RMS; for labels, the share that differ."""
    if expected.shape != observed.shape:
        return np.inf
    if "f" not in expected.dtype.kind + observed.dtype.kind:
        return float(np.mean(expected != observed))
    a, b = _table(expected, "unchanged"), _table(observed, "unchanged")
    # Missing and infinite entries count as equal only where both outputs have them.
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    gap = np.where(same, 0.0, a) - np.where(same, 0.0, b)
    if not np.isfinite(gap).all():
        return np.inf
    return _relative(float(np.abs(gap).max(initial=0.0)), a[np.isfinite(a)])


def _up_to_sign(expected: AnyArray, observed: AnyArray) -> float:
    a, b = _table(expected, "up_to_sign"), _table(observed, "up_to_sign")
    if a.shape != b.shape:
        return np.inf
    kept = np.abs(a - b).max(axis=0, initial=0.0)
    flipped = np.abs(a + b).max(axis=0, initial=0.0)
    return _relative(float(np.minimum(kept, flipped).max(initial=0.0)), a)


def _up_to_orthogonal(expected: AnyArray, observed: AnyArray) -> float:
    a = _table(expected, "up_to_orthogonal")
    b = _table(observed, "up_to_orthogonal")
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return np.inf
    # Not centered and not scaled: a shift or a stretch is a deviation.
    turn, _ = orthogonal_procrustes(b, a)
    return _relative(float(np.abs(b @ turn - a).max(initial=0.0)), a)


def _same_distances(expected: AnyArray, observed: AnyArray) -> float:
    a, b = _table(expected, "same_distances"), _table(observed, "same_distances")
    if len(a) != len(b):
        return np.inf
    if len(a) < 2:
        raise ValueError(
            "check_invariance: the output has 1 row. Relation 'same_distances' "
            "compares pairs of rows."
        )
    distances = pdist(a)
    return _relative(float(np.abs(pdist(b) - distances).max()), distances)


def _basis(Z: FloatArray, eps: float) -> FloatArray:
    """Orthonormal basis of the centered columns.

    Directions weaker than sqrt(eps) of the strongest are left out: the angle of a
    direction of relative size d carries an error of about eps / d, so those would
    tell of rounding alone.
    """
    u, s, _ = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    size = np.sqrt(np.mean(np.square(Z)) * Z.size)
    # A constant column leaves rounding behind when centered: hence the second bound.
    return u[:, (s > np.sqrt(eps) * s[:1]) & (s > 8 * eps * size)]


def _same_span(expected: AnyArray, observed: AnyArray) -> float:
    """Largest principal angle, in radians; pi / 2 if the dimensions differ."""
    a, b = _table(expected, "same_span"), _table(observed, "same_span")
    if len(a) != len(b) or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return np.inf
    eps = max(
        float(np.finfo(Z.dtype).eps) if Z.dtype.kind == "f" else 0.0
        for Z in (expected, observed, np.empty(0))
    )
    p, q = _basis(a, eps), _basis(b, eps)
    if p.shape[1] == q.shape[1] == len(a) - 1:
        raise ValueError(
            f"check_invariance: the output spans all {len(a) - 1} dimensions that "
            f"{len(a)} centered rows have, so relation 'same_span' could never be "
            "broken. Pass more rows."
        )
    if p.shape[1] != q.shape[1]:
        return np.pi / 2
    return float(subspace_angles(p, q).max(initial=0.0)) if p.shape[1] else 0.0


_COMPARE: Final[dict[str, Callable[[AnyArray, AnyArray], float]]] = {
    "unchanged": _difference,
    "same_action": _difference,
    "up_to_sign": _up_to_sign,
    "up_to_orthogonal": _up_to_orthogonal,
    "same_distances": _same_distances,
    "same_span": _same_span,
}


def deviation(
    relation: str, reference: AnyArray, observed: AnyArray, element: Element
) -> float:
    """Measure how far an output is from the answer that a relation asks for.

    Parameters
    ----------
    relation : str
        A key of `skrep.invariance.RELATIONS`.
    reference : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Output of the untouched input.
    observed : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Output of the input that `element` changed.
    element : Element
        Acts on the reference where the relation is "same_action". Where it moves
        samples, all relations but "unchanged" compare each sample with itself.

    Returns
    -------
    float
        0 if the relation holds exactly; infinite if shapes or missing entries
        differ.
    """
    acts = relation == "same_action" or (element.moves_rows and relation != "unchanged")
    expected = element.apply_output(reference) if acts else reference
    worst = _COMPARE[relation](expected, observed)
    return worst if np.isfinite(worst) else np.inf
