"""Which invariances the parameters of a nested projection support."""

from skrep._claims import Claim

__all__ = ["nested_claims"]


def nested_claims(
    names: tuple[str, ...],
    *,
    blocks: bool,
    normalize: bool,
    randomized: bool,
    labels: bool,
) -> tuple[Claim, ...]:
    """List the claims that a set of parameters supports.

    Only X is acted upon; partners and queries stay.

    Parameters
    ----------
    names : tuple of str
        The objectives.
    blocks : bool
        Whether axes stay inside blocks of columns.
    normalize : bool
        Whether outputs are brought to norm one.
    randomized : bool
        Whether axes are approximate.
    labels : bool
        Whether y may hold classes. If it may hold numbers as well, what is claimed of
        labels is claimed of classes.

    Returns
    -------
    tuple of Claim
        The claims.
    """
    claims = [Claim("row_permutation", "same_action"), Claim("translation")]
    if "classes" in names and labels:
        claims.append(Claim("label_permutation"))
    compared = {"pairs", "mined"} & set(names)
    if not compared and not randomized:
        claims.append(Claim("sign_flip" if blocks else "orthogonal", "up_to_sign"))
        if not blocks:
            # The largest entry of an axis, which decides its sign, moves with it.
            claims.append(Claim("column_permutation"))
    if not compared:
        # Class axes, canonical axes and mixtures have lengths in units of the data.
        free = names in (("classes",), ("cca",)) or len(names) > 1
        unchanged = normalize or (free and not blocks)
        answer = "unchanged" if unchanged else "same_action"
        claims.append(Claim("positive_scaling", answer))
    return tuple(claims)
