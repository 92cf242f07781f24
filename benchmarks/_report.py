"""Print tables and keep them in ``benchmarks/results``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from skrep.__main__ import info


class Report:
    """A text file that is printed while it is written."""

    def __init__(self, name: str) -> None:
        self.path = Path(__file__).parent / "results" / f"{name}.txt"
        self.lines: list[str] = []

    def __enter__(self) -> Self:
        self.write(info())
        return self

    def __exit__(self, *exception: object) -> None:
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text("\n".join(self.lines) + "\n")

    def write(self, text: str) -> None:
        """Add lines."""
        print(text, flush=True)
        self.lines.append(text)

    def table(
        self, title: str, head: Sequence[str], body: Sequence[Sequence[str]]
    ) -> None:
        """Add an aligned table: the first column to the left, the others right."""
        widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
        lines = [f"\n{title}"]
        for row in (head, ["-" * w for w in widths], *body):
            cells = [row[0].ljust(widths[0])]
            cells += [c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)]
            lines.append("  " + "  ".join(cells).rstrip())
        self.write("\n".join(lines))
