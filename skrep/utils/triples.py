"""Triples (head, relation, tail): how they are read, encoded and ranked."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from numbers import Real
from typing import Any, Final, NamedTuple

import numpy as np
import scipy.sparse as sp

from skrep.typing import AnyArray, FloatArray, IntArray
from skrep.utils import row_blocks
from skrep.utils.labels import is_missing

__all__ = ["SIDES", "Labels", "codes_of", "encode", "rank_triples", "read_triples"]

SIDES: Final = {"tail": (0, 2), "head": (2, 0)}
"""For each side the column that is given, and the one that is looked for."""

_ROLES: Final = ("head", "relation", "tail")
_BUDGET: Final = 64 * 2**20
_TEMPORARIES: Final = 8


class Labels(NamedTuple):
    """Labels of triples, one list for each column.

    Parameters
    ----------
    heads, relations, tails : list of object
        The labels, row by row.
    """

    heads: list[Any]
    relations: list[Any]
    tails: list[Any]


def read_triples(who: str, X: Any, name: str = "X") -> Labels:
    """Read rows of three labels, columns by position.

    Parameters
    ----------
    who : str
        What is named in errors.
    X : array-like or frame of shape (n_triples, 3)
        Head, relation and tail of each triple.
    name : str, default="X"
        What errors call it.

    Returns
    -------
    Labels
        The labels as they are.

    Raises
    ------
    ValueError
        If X is not of three columns, has no rows, or a label is missing, infinite or
        cannot be hashed; or if strings stand beside other kinds of labels among the
        entities or among the relations.
    TypeError
        If X is sparse.

    Examples
    --------
    >>> from skrep.utils.triples import read_triples
    >>> read_triples("example", [("Oslo", "in", "Norway"), ("Rome", "in", "Italy")])
    Labels(heads=['Oslo', 'Rome'], relations=['in', 'in'], tails=['Norway', 'Italy'])
    """
    if sp.issparse(X):
        raise TypeError(
            f"{who}: '{name}' is sparse, and rows of labels (head, relation, tail) are "
            f"dense. Pass {name}.toarray()."
        )
    columns = _columns(X)
    if columns is None or len(columns) != 3:
        found = "no table" if columns is None else f"{len(columns)} columns"
        raise ValueError(
            f"{who}: '{name}' has {found}. Expected 2D array of 3 columns, head, "
            f"relation and tail, by position: Reshape your data, as with {name}[:, :3]."
        )
    if not len(columns[0]):
        raise ValueError(
            f"{who}: '{name}' has 0 triples. At least one is needed, such as "
            "[('Oslo', 'in', 'Norway')]."
        )
    for role, labels in zip(_ROLES, columns, strict=True):
        for row, label in enumerate(labels):
            _check_label(who, name, role, row, label)
    heads, relations, tails = columns
    _check_kinds(who, name, "entities", chain(heads, tails))
    _check_kinds(who, name, "relations", relations)
    return Labels(heads, relations, tails)


def _columns(X: Any) -> list[list[Any]] | None:
    if hasattr(X, "columns"):
        by_place = X.iloc if hasattr(X, "iloc") else X
        return [list(by_place[:, j].to_list()) for j in range(X.shape[1])]
    if hasattr(X, "shape"):
        table = np.asarray(X)
        return None if table.ndim != 2 else table.T.tolist()
    try:
        rows = [tuple(row) for row in X if not isinstance(row, str)]
        widths = {len(row) for row in rows}
        if len(rows) != len(X) or len(widths) > 1:
            return None
    except TypeError:
        return None
    return [list(column) for column in zip(*rows, strict=True)] or [[], [], []]


def _check_label(who: str, name: str, role: str, row: int, label: Any) -> None:
    where = f"in row {row}, column {role}"
    if is_missing(label) or (isinstance(label, Real) and np.isinf(float(label))):
        what = "infinity" if not is_missing(label) else "NaN or None"
        raise ValueError(
            f"{who}: '{name}' contains {what}, {where}. Every triple needs a head, a "
            f"relation and a tail: leave such rows out, as with {name}.dropna() of a "
            "frame."
        )
    try:
        hash(label)
    except TypeError as error:
        raise ValueError(
            f"{who}: '{name}' holds {label!r} {where}, which cannot be hashed. A label "
            "is a string, a number or a tuple: pass tuple(label), say."
        ) from error


def _kind(label: Any) -> str:
    if isinstance(label, bool | np.bool_):
        return "booleans"
    if isinstance(label, Real):
        return "numbers"
    return "strings" if isinstance(label, str) else "objects"


def _check_kinds(who: str, name: str, what: str, labels: Iterable[Any]) -> None:
    first: dict[str, Any] = {}
    for label in labels:
        first.setdefault(_kind(label), label)
    if len(first) > 1:
        (one, label), (other, second) = list(first.items())[:2]
        raise ValueError(
            f"{who}: '{name}' has {what} that are {one}, as {label!r}, and {other}, as "
            f"{second!r}. Labels of one kind are needed, for 1 and '1' are two: pass "
            "[tuple(map(str, row)) for row in triples], say."
        )


def codes_of(labels: Iterable[Any]) -> dict[Any, int]:
    """Number labels as they come.

    Parameters
    ----------
    labels : iterable of hashable
        Distinct labels.

    Returns
    -------
    dict of label to int
        Their codes, from 0 on.

    Examples
    --------
    >>> from skrep.utils.triples import codes_of
    >>> codes_of(["Italy", "Norway"])
    {'Italy': 0, 'Norway': 1}
    """
    return {label: code for code, label in enumerate(labels)}


def encode(
    who: str,
    labels: Labels,
    entities: Mapping[Any, int],
    relations: Mapping[Any, int],
    name: str = "X",
) -> IntArray:
    """Give the codes of labels.

    Parameters
    ----------
    who : str
        What is named in errors.
    labels : Labels
        The labels.
    entities, relations : mapping of label to int
        The codes of those that are known.
    name : str, default="X"
        What errors call the triples.

    Returns
    -------
    ndarray of shape (n_triples, 3)
        Codes of head, relation and tail.

    Raises
    ------
    ValueError
        If a label is not known.

    Examples
    --------
    >>> from skrep.utils.triples import Labels, encode
    >>> labels = Labels(["Oslo"], ["in"], ["Norway"])
    >>> encode("example", labels, {"Norway": 0, "Oslo": 1}, {"in": 0})
    array([[1, 0, 0]], dtype=int32)
    """
    codes = np.empty((len(labels.heads), 3), dtype=np.int32)
    for j, (role, known) in enumerate(
        zip(_ROLES, (entities, relations, entities), strict=True)
    ):
        for row, label in enumerate(labels[j]):
            code = known.get(label)
            if code is None:
                what = "relations" if role == "relation" else "entities"
                raise ValueError(
                    f"{who}: '{name}' has the {role} {label!r} in row {row}, which is "
                    f"not among the {len(known)} {what} of fit. Fit with triples that "
                    f"have it, or leave such rows out: "
                    f"{name}[np.isin({name}[:, {j}], model.{what}_)]."
                )
            codes[row, j] = code
    return codes


def rank_triples(
    candidate_scores: Callable[[slice, str], AnyArray],
    triples: IntArray,
    known: IntArray,
    n_entities: int,
    sides: Sequence[str],
) -> IntArray:
    """Rank the entity of each triple among those that make no known triple.

    Parameters
    ----------
    candidate_scores : callable
        Takes a slice of the triples and a side, and gives the scores of all entities in
        the place of that side, of shape (n_rows, n_entities).
    triples : ndarray of shape (n_triples, 3)
        Codes of head, relation and tail.
    known : ndarray of shape (n_known, 3)
        Triples that are true; those of `triples` are known beside them.
    n_entities : int
        Number of entities.
    sides : sequence of {"head", "tail"}
        What is looked for.

    Returns
    -------
    ndarray of shape (len(sides), n_triples)
        Ranks from 1 on. Entities of the same score come before.
    """
    ranks = np.empty((len(sides), len(triples)), dtype=np.int64)
    triples = triples.astype(np.int64)
    true = np.concatenate([triples, known.astype(np.int64)])
    for ranked, side in zip(ranks, sides, strict=True):
        given, sought = SIDES[side]
        query, entity = _query(true, given, n_entities), true[:, sought]
        keys = np.unique(query * n_entities + entity)
        width = _TEMPORARIES * 8 * n_entities
        for rows in row_blocks(len(triples), width, budget=_BUDGET):
            part = triples[rows]
            ranked[rows] = _ranks(
                candidate_scores(rows, side),
                _query(part, given, n_entities),
                part[:, sought],
                keys,
            )
    return ranks


def _query(triples: IntArray, given: int, n_entities: int) -> IntArray:
    query: IntArray = triples[:, 1] * n_entities + triples[:, given]
    return query


def _ranks(
    scores: AnyArray, query: IntArray, wanted: IntArray, keys: IntArray
) -> IntArray:
    """Ranks of the wanted entities; keys are sorted, query * n_entities + entity."""
    n_rows, n_entities = scores.shape
    own: FloatArray = scores[np.arange(n_rows), wanted][:, None]
    ahead = np.count_nonzero(scores >= own, axis=1)
    first = np.searchsorted(keys, query * n_entities)
    counts = np.searchsorted(keys, (query + 1) * n_entities) - first
    row = np.repeat(np.arange(n_rows), counts)
    within = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    entity = keys[np.repeat(first, counts) + within] % n_entities
    true_ahead = np.bincount(
        row, weights=scores[row, entity] >= own[row, 0], minlength=n_rows
    )
    ranks: IntArray = 1 + ahead - true_ahead.astype(np.int64)
    return ranks
