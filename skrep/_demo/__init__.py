"""The demo: one question and its answer for each family, on the bundled data."""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any, NamedTuple

from skrep.utils import require

__all__ = ["Answer", "answers", "run"]


class Answer(NamedTuple):
    """What one family has to say.

    Parameters
    ----------
    question : str
        The question of a user.
    setting : str
        What data it is asked of.
    table : list of list of str
        Rows of cells; the first row is the head.
    conclusion : str
        The answer in a sentence.
    draw : callable
        Takes matplotlib axes and draws the answer.
    """

    question: str
    setting: str
    table: list[list[str]]
    conclusion: str
    draw: Callable[[Any], None]


def answers() -> list[Answer]:
    """Ask every family: each module of this package has a function ``answer``.

    Returns
    -------
    list of Answer
        The answers, in the order of the modules' names.
    """
    modules = sorted(info.name for info in pkgutil.iter_modules(__path__))
    return [
        importlib.import_module(f"{__name__}.{module}").answer() for module in modules
    ]


def _aligned(table: list[list[str]]) -> list[str]:
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = [row[0].ljust(widths[0])]
        cells += [c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * (sum(widths) + 2 * len(widths) - 2))
    return lines


def run(write: Callable[[str], None], *, plot: str | None = None) -> None:
    """Print all answers and, if asked, draw them.

    Parameters
    ----------
    write : callable
        Takes one line of text.
    plot : str or None, default=None
        Picture file to write; needs matplotlib.
    """
    figures = None if plot is None else require("matplotlib.figure", "demo --plot")
    found = answers()
    for answer in found:
        write(f"\n{answer.question}\n{answer.setting}\n")
        for line in _aligned(answer.table):
            write(f"  {line}")
        write(f"\n{answer.conclusion}")
    if figures is not None:
        figure = figures.Figure(figsize=(7, 4 * len(found)), layout="constrained")
        figure.get_layout_engine().set(hspace=0.08)
        for axes, answer in zip(
            figure.subplots(len(found), squeeze=False)[:, 0], found, strict=True
        ):
            answer.draw(axes)
        figure.savefig(plot, dpi=150)
        write(f"\nPicture: {plot}")
