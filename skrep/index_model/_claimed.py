"""Which invariances the parameters of a moment form support."""

from skrep._claims import Claim

__all__ = ["alone_claims", "index_claims"]


def index_claims(
    shrinkage: float | str, *, labels: bool, exact: bool = True
) -> tuple[Claim, ...]:
    """List the claims that a set of parameters supports.

    They hold where there are more than twice as many rows as columns.

    Parameters
    ----------
    shrinkage : float or "auto"
        The parameter; a ridge depends on correlations, which linear maps change.
    labels : bool
        Whether y may hold classes. If it may hold numbers as well, what is claimed of
        labels is claimed of classes.
    exact : bool, default=True
        Whether the score of the rows turns with them; not so where noise is drawn.

    Returns
    -------
    tuple of Claim
        The claims.
    """
    claims = [Claim("translation"), Claim("column_scaling")]
    claims.append(Claim("row_permutation", "same_action"))
    if exact:
        claims.append(Claim("column_permutation"))
    if exact and shrinkage in ("auto", 0):
        claims.append(Claim("invertible_affine", "up_to_sign"))
    if labels:
        claims.append(Claim("label_permutation"))
    return tuple(claims)


def alone_claims() -> tuple[Claim, ...]:
    """List the claims of a fit without y.

    Noise of the same size in all columns knows of their units.

    Returns
    -------
    tuple of Claim
        The claims.
    """
    return (
        Claim("translation"),
        Claim("positive_scaling"),
        Claim("row_permutation", "same_action"),
        Claim("orthogonal", "up_to_sign"),
        Claim("column_permutation"),
    )
