"""Which invariances the parameters of a discriminant projection support."""

from skrep._claims import Claim

__all__ = ["projection_claims"]


def projection_claims(
    shrinkage: float | str, *, between: bool, labels: bool
) -> tuple[Claim, ...]:
    """List the claims that a set of parameters supports.

    Parameters
    ----------
    shrinkage : float or "auto"
        The parameter: "auto" knows of no units but of columns, a number of lengths, and
        0 of neither.
    between : bool
        Whether the directions are only those that tell groups apart; the others come in
        the order of their variance for their length.
    labels : bool
        Whether the names of classes are of no consequence.

    Returns
    -------
    tuple of Claim
        The claims.
    """
    claims = [
        Claim("row_permutation", "same_action"),
        Claim("translation"),
        Claim("column_permutation"),
    ]
    plain = shrinkage == 0 and between
    free = plain or shrinkage == "auto"
    claims.append(Claim("column_scaling" if free else "positive_scaling"))
    if plain:
        claims.append(Claim("invertible_affine", "up_to_sign"))
    else:
        turned = "sign_flip" if free else "orthogonal"
        claims.append(Claim(turned, "up_to_sign"))
    if labels:
        claims.append(Claim("label_permutation"))
    return tuple(claims)
