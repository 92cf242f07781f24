"""Which invariances the parameters of a relative representation support."""

from typing import Any

import numpy as np

from skrep._claims import Claim
from skrep.relative._kinds import SIMILARITIES, supported_groups
from skrep.relative._selection import GEOMETRIC

__all__ = ["relative_claims"]


def relative_claims(
    *, anchors: Any, selection: str, similarity: Any, center: bool, scale: bool
) -> tuple[Claim, ...]:
    """List the claims that a set of parameters supports.

    Where rows tie, in distance or in rank, as in binary data, rounding may decide
    between them and a claim fail.

    Parameters
    ----------
    anchors : None or array-like
        Anchors as given. Vectors stay where they are while the rows are acted upon,
        so that only what needs no refit can be claimed.
    selection : str
        The way to select.
    similarity : str or callable
        The similarity; nothing is known of a callable.
    center : bool
        Whether rows are centered.
    scale : bool
        Whether coordinates are standardized.

    Returns
    -------
    tuple of Claim
        The claims.
    """
    if callable(similarity):
        return ()
    selected = anchors is None
    vectors = not selected and np.ndim(anchors) != 1
    geometric = selected and selection in GEOMETRIC
    claims = []
    if vectors or (geometric and selection != "kmeans"):
        claims.append(Claim("row_permutation", "same_action"))
    normalizes = SIMILARITIES[similarity].normalizes
    if normalizes and similarity != "mahalanobis" and not center:
        claims.append(Claim("row_scaling", refit=False))
        if not selected:
            claims.append(Claim("row_scaling"))
    if vectors and not center and SIMILARITIES[similarity].directional:
        # Rows move, anchors do not: what norms or standardization undo can be claimed.
        if scale or normalizes:
            claims.append(Claim("positive_scaling"))
        if scale and not normalizes:
            claims.append(Claim("translation"))
    elif not vectors:
        groups = supported_groups(similarity, centered=center, isometric=geometric)
        claims += [Claim(group) for group in groups]
    return tuple(claims)
