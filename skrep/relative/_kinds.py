"""The named similarities: what each one is, and what leaves it unchanged."""

from dataclasses import dataclass

__all__ = ["SIMILARITIES", "Similarity", "supported_groups"]

_SIMILARITY_GROUPS = ("orthogonal", "positive_scaling", "translation")
_COORDINATE_GROUPS = (
    "column_permutation",
    "sign_flip",
    "positive_scaling",
    "translation",
)


@dataclass(frozen=True, kw_only=True)
class Similarity:
    """What a named similarity is.

    Parameters
    ----------
    groups : tuple of str
        Groups that leave it unchanged when rows are centered.
    directional : bool, default=False
        Whether it is a function of the products of centered rows with the anchors;
        else it is a distance between them.
    falls : bool, default=False
        Whether it falls as likeness grows.
    normalizes : bool, default=False
        Whether rows are divided by their norms, so that a zero row has no direction.
    linear : bool, default=False
        Whether it is a matrix product and a row scale, so that maps fold into it.
    sparse : bool, default=False
        Whether CSR rows can stay sparse.
    decodes : bool, default=False
        Whether rows can be recovered from it.
    """

    groups: tuple[str, ...] = _SIMILARITY_GROUPS
    directional: bool = False
    falls: bool = False
    normalizes: bool = False
    linear: bool = False
    sparse: bool = False
    decodes: bool = False


SIMILARITIES = {
    "cosine": Similarity(
        directional=True, normalizes=True, linear=True, sparse=True, decodes=True
    ),
    "angular": Similarity(directional=True, normalizes=True, falls=True, decodes=True),
    "inner": Similarity(directional=True, linear=True, sparse=True, decodes=True),
    "euclidean": Similarity(falls=True, sparse=True, decodes=True),
    "manhattan": Similarity(groups=_COORDINATE_GROUPS, falls=True, sparse=True),
    "chebyshev": Similarity(groups=_COORDINATE_GROUPS, falls=True),
    "mahalanobis": Similarity(
        groups=("invertible_affine",),
        directional=True,
        normalizes=True,
        linear=True,
        decodes=True,
    ),
    "rank": Similarity(directional=True, normalizes=True, sparse=True),
}


def supported_groups(name: str, *, centered: bool, isometric: bool) -> tuple[str, ...]:
    """Groups that leave a similarity unchanged in a given setting.

    Parameters
    ----------
    name : str
        A key of ``SIMILARITIES``.
    centered : bool
        Whether the mean is subtracted.
    isometric : bool
        Whether the choice of anchors sees Euclidean distances, so that only what
        keeps their order can be claimed.

    Returns
    -------
    tuple of str
        Names of groups.
    """
    entry = SIMILARITIES[name]
    groups = entry.groups
    if isometric and "invertible_affine" in groups:
        groups = _SIMILARITY_GROUPS
    if entry.directional and not centered:
        linear = {"invertible_affine": "invertible_linear"}
        groups = tuple(linear.get(g, g) for g in groups if g != "translation")
    return groups
