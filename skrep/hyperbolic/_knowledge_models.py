"""Scores of triples, as formulas that arrays of NumPy and torch share.

Vectors hold pairs of coordinates: coordinate k and coordinate k + width / 2 are the
real and the imaginary part of a complex number, or the plane that is turned. Functions
take the module of the arrays, ``numpy`` or ``torch``, as `xp`. Hyperbolic quantities
are those of curvature -1, in polar form, where a vector v at the origin leads to the
point in its direction at the distance sqrt(c) |v|.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

__all__ = [
    "HYPERBOLIC",
    "MODELS",
    "Query",
    "cubes",
    "pair_scores",
    "queries",
    "relation_parts",
    "scores_of",
]

MODELS: Final[Mapping[str, tuple[tuple[str, float], ...]]] = {
    "complex": (("factor", 1.0),),
    "rote": (("angle", 0.5), ("translation", 1.0)),
    "roth": (("angle", 0.5), ("translation", 1.0)),
    "refh": (("angle", 0.5), ("translation", 1.0)),
    "atth": (
        ("angle", 0.5),
        ("reflection_angle", 0.5),
        ("attention", 1.0),
        ("translation", 1.0),
    ),
}
"""Parts of a relation's vector, with their widths as shares of an entity's."""

HYPERBOLIC: Final = frozenset({"roth", "refh", "atth"})

_TINY: Final = 1e-12
"""Added to squares below a root, whose slope at 0 is infinite."""


class Query(NamedTuple):
    """What head and relation ask for.

    Parameters
    ----------
    vector : array of shape (n_queries, width)
        A vector; for hyperbolic models the direction of a point.
    size : array of shape (n_queries, 1)
        Its squared norm; for hyperbolic models the distance of the point from the
        origin.
    """

    vector: Any
    size: Any


def relation_parts(model: str, relation: Any, width: int) -> dict[str, Any]:
    """Cut the vectors of relations into their parts.

    Parameters
    ----------
    model : str
        A key of `MODELS`.
    relation : array of shape (n_relations, relation_width)
        The vectors.
    width : int
        Coordinates of an entity.

    Returns
    -------
    dict of str to array
        The parts by name.
    """
    found, start = {}, 0
    for name, share in MODELS[model]:
        stop = start + int(share * width)
        found[name] = relation[:, start:stop]
        start = stop
    return found


def queries(xp: Any, model: str, head: Any, relation: Any, curvature: Any) -> Query:
    """Move heads by relations.

    Parameters
    ----------
    xp : module
        NumPy or torch.
    model : str
        A key of `MODELS`.
    head : array of shape (n_queries, width)
        Vectors of the heads.
    relation : array of shape (n_queries, relation_width)
        Vectors of the relations.
    curvature : array of shape (n_queries, 1)
        c of the relations, where space has the curvature -c.

    Returns
    -------
    Query
        What tails are compared with.
    """
    part = relation_parts(model, relation, head.shape[1])
    if model == "complex":
        moved = _times(xp, head, *_halves(part["factor"]))
        return Query(moved, (moved * moved).sum(-1, keepdims=True))
    turned = _turned(xp, head, part["angle"], flip=model == "refh")
    if model == "rote":
        moved = turned + part["translation"]
        return Query(moved, (moved * moved).sum(-1, keepdims=True))
    if model == "atth":
        other = _turned(xp, head, part["reflection_angle"], flip=True)
        logit = part["attention"] * (turned - other) / head.shape[1] ** 0.5
        # Of a softmax over the two.
        share = 0.5 + 0.5 * xp.tanh(logit.sum(-1, keepdims=True) / 2)
        turned = share * turned + (1 - share) * other
    unit = xp.sqrt(curvature)
    return _translated(xp, unit * turned, unit * part["translation"])


def scores_of(
    xp: Any,
    model: str,
    query: Query,
    products: Any,
    tail_squares: Any,
    bias: Any,
    curvature: Any,
) -> Any:
    """Score tails from their inner products with queries.

    Parameters
    ----------
    xp : module
        NumPy or torch.
    model : str
        A key of `MODELS`.
    query : Query
        Of `queries`.
    products : array of shape (n_queries, n_tails) or (n_queries, 1)
        Inner products of ``query.vector`` and the vectors of the tails.
    tail_squares : array that broadcasts against it
        Squared norms of the vectors of the tails.
    bias : array that broadcasts against it
        Biases of the tails.
    curvature : array of shape (n_queries, 1)
        c of the relations.

    Returns
    -------
    array
        The scores: for "complex" the product, else the bias minus the squared distance.
    """
    if model == "complex":
        return products
    if model == "rote":
        return bias - (query.size + tail_squares - 2 * products)
    length = xp.sqrt(tail_squares + _TINY)
    radius = xp.sqrt(curvature) * length
    # The half-angle form of the law of cosines: no term is negative.
    near = xp.sinh((query.size - radius) / 2)
    wide = xp.sinh(query.size) * xp.sinh(radius)
    square = near * near + wide * (1 - products / length).clip(0) / 2
    distance = 2 * xp.arcsinh(xp.sqrt(square + _TINY))
    return bias - distance * distance / curvature


def pair_scores(
    xp: Any,
    model: str,
    head: Any,
    relation: Any,
    tail: Any,
    bias: Any,
    curvature: Any,
) -> Any:
    """Score triples row by row.

    Parameters
    ----------
    xp : module
        NumPy or torch.
    model : str
        A key of `MODELS`.
    head, tail : array of shape (n_triples, width)
        Vectors of the entities.
    relation : array of shape (n_triples, relation_width)
        Vectors of the relations.
    bias : array of shape (n_triples,)
        Biases of the tails.
    curvature : array of shape (n_triples, 1)
        c of the relations.

    Returns
    -------
    array of shape (n_triples,)
        The scores.
    """
    query = queries(xp, model, head, relation, curvature)
    products = (query.vector * tail).sum(-1, keepdims=True)
    squares = (tail * tail).sum(-1, keepdims=True)
    found = scores_of(xp, model, query, products, squares, bias[:, None], curvature)
    return found[:, 0]


def _halves(vector: Any) -> tuple[Any, Any]:
    half = vector.shape[1] // 2
    return vector[:, :half], vector[:, half:]


def _times(xp: Any, vector: Any, real: Any, imaginary: Any) -> Any:
    a, b = _halves(vector)
    return xp.hstack((a * real - b * imaginary, a * imaginary + b * real))


def _turned(xp: Any, vector: Any, angle: Any, *, flip: bool) -> Any:
    """Turn each plane by an angle, or reflect it in the line at half the angle."""
    a, b = _halves(vector)
    if flip:
        vector = xp.hstack((a, -b))
    return _times(xp, vector, xp.cos(angle), xp.sin(angle))


def _translated(xp: Any, x: Any, y: Any) -> Query:
    """Mobius sum of the points at the vectors x and y, in polar form."""
    length = xp.sqrt((x * x).sum(-1, keepdims=True) + _TINY)
    other = xp.sqrt((y * y).sum(-1, keepdims=True) + _TINY)
    along = (x * y).sum(-1, keepdims=True)
    stretch = xp.sinh(other) / other
    half = xp.sinh(length / 2) / length
    ahead = (
        xp.sinh(length) / length * xp.cosh(other) + 2 * half * half * along * stretch
    )
    point = ahead * x + stretch * y
    norm = xp.sqrt((point * point).sum(-1, keepdims=True) + _TINY)
    return Query(point / norm, xp.arcsinh(norm))


def cubes(model: str, head: Any, relation: Any, tail: Any) -> Any:
    """Sum the cubed moduli of the pairs of coordinates of each triple.

    Parameters
    ----------
    model : str
        A key of `MODELS`.
    head, tail : array of shape (n_triples, width)
        Vectors of the entities.
    relation : array of shape (n_triples, relation_width)
        Vectors of the relations, of which the factor or the translation counts.

    Returns
    -------
    array of shape (n_triples,)
        The sums.
    """
    part = relation_parts(model, relation, head.shape[1])
    vectors = head, part.get("factor", part.get("translation")), tail
    squares = [a * a + b * b for a, b in map(_halves, vectors)]
    return sum((part + _TINY) ** 1.5 for part in squares).sum(-1)
