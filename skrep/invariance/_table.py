"""The claims of several estimators side by side."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from skrep._claims import GROUPS, RELATIONS, Claim
from skrep.invariance._declared import declared

__all__ = ["invariance_table"]


def _cell(claims: Sequence[Claim], group: str) -> str:
    """Name the relations claimed under a group, else the strictest that follows."""
    found = []
    for refit in (True, False):
        if group == "label_permutation" and not refit:
            continue
        names = [c.relation for c in claims if c.group == group and c.refit == refit]
        if not names:
            # RELATIONS goes from strict to weak.
            names = [
                relation
                for relation in RELATIONS
                if any(c.implies(Claim(group, relation, refit=refit)) for c in claims)
            ][:1]
        found += names if refit else [f"{name} (fitted once)" for name in names]
    return ", ".join(dict.fromkeys(found))


def _rst(rows: list[list[str]]) -> str:
    lines = [".. list-table::", "   :header-rows: 1", "   :stub-columns: 1", ""]
    for row in rows:
        for position, cell in enumerate(row):
            bullet = "   * -" if position == 0 else "     -"
            lines.append(f"{bullet} {cell}".rstrip())
    return "\n".join(lines) + "\n"


def _text(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def invariance_table(
    estimators: Iterable[Any], *, format: Literal["text", "rst"] = "text"
) -> str:
    """Tabulate claims: a row per estimator, a column per group.

    Parameters
    ----------
    estimators : iterable of estimator objects or of tuples (estimator, claims)
        Estimators with a method ``invariances()``, or any estimators and their
        claims. A row is headed by the estimator's repr, which shows the parameters
        that were changed.
    format : {"text", "rst"}, default="text"
        Plain text, or a reStructuredText list-table.

    Returns
    -------
    str
        The table. A cell holds the relation claimed, or the strictest that follows
        from a claim on a larger group, or nothing. Groups under which no estimator
        claims anything have no column.

    Raises
    ------
    ValueError
        If the format is unknown.

    See Also
    --------
    check_invariance : Try a claim on an estimator and data.

    Examples
    --------
    >>> from sklearn.preprocessing import Normalizer, StandardScaler
    >>> from skrep.invariance import Claim, invariance_table
    >>> print(invariance_table([
    ...     (Normalizer(), [Claim("row_scaling")]),
    ...     (StandardScaler(), [Claim("translation"), Claim("column_scaling")]),
    ... ]))
    estimator         positive_scaling  row_scaling  translation  column_scaling
    Normalizer()      unchanged         unchanged
    StandardScaler()  unchanged                      unchanged    unchanged
    """
    if format not in ("text", "rst"):
        raise ValueError(
            f"invariance_table: 'format' is {format!r}. It must be 'text' or 'rst'."
        )
    pairs = [declared(item) for item in estimators]
    cells = {group: [_cell(claims, group) for _, claims in pairs] for group in GROUPS}
    shown = [group for group, column in cells.items() if any(column)]
    code = "``" if format == "rst" else ""
    rows = [["estimator", *(f"{code}{group}{code}" for group in shown)]]
    for index, (estimator, _) in enumerate(pairs):
        name = " ".join(repr(estimator).split())
        rows.append([f"{code}{name}{code}", *(cells[group][index] for group in shown)])
    return _rst(rows) if format == "rst" else _text(rows)
