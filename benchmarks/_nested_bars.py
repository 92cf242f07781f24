"""The bars of the prefix benchmark, each computed from the scores of one run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from _nested_protocol import LENGTHS, SCORES
from _report import Report

__all__ = ["OTHER_SIDE", "Results", "own_name", "show_bars"]

OTHER_SIDE = ", counterpart"
FULL = "full"
PCA_ROW = "PCA"
RAW_ROW = "truncation (full: raw vectors)"


def own_name(objective: str | dict[str, float], blocks: tuple[int, ...] | None) -> str:
    """How the tables call one of skrep's fits."""
    shown = f"{objective!r}" + (f", blocks={blocks}" if blocks else "")
    return f"NestedProjection({shown})"


@dataclass(frozen=True)
class Bar:
    """A figure to reach at one or several lengths: the lowest of them counts."""

    encoder: str
    score: str
    row: str
    lengths: tuple[int | str, ...]
    figure: float


class Results:
    """Scores of one run, keyed by encoder, score, row of the table and length."""

    def __init__(self) -> None:
        self.cells: dict[tuple[str, str, str], dict[int, list[float]]] = {}

    def add(self, encoder: str, score: str, row: str, values: dict[int, float]) -> None:
        """Append one split."""
        lengths = self.cells.setdefault((encoder, score, row), {})
        for k, value in values.items():
            lengths.setdefault(k, []).append(value)

    def rows(self, encoder: str, score: str) -> list[str]:
        """The rows of one table, in the order of the run."""
        return [row for e, s, row in self.cells if (e, s) == (encoder, score)]

    def splits(
        self, encoder: str, score: str, row: str, length: int | str
    ) -> np.ndarray:
        """One value per split; "full" is the last length of the row."""
        lengths = self.cells[encoder, score, row]
        return np.array(lengths[max(lengths) if length == FULL else length])

    def gaps(
        self, encoder: str, score: str, row: str, peer: str, lengths: tuple
    ) -> np.ndarray:
        """Row minus peer, (n_lengths, n_splits)."""
        return np.array(
            [
                self.splits(encoder, score, row, k)
                - self.splits(encoder, score, peer, k)
                for k in lengths
            ]
        )


def show_bars(results: Results, report: Report) -> None:
    """Write what was to be reached, what was, and yes or no."""
    encoders = {encoder for encoder, _, _ in results.cells}
    _show_figures(results, report, encoders)
    _show_mixtures(results, report, encoders & {"minilm", "e5"})
    if "wordllama" in encoders:
        _show_blocks(results, report)


def _figure_bars() -> list[Bar]:
    classes, neighbors, mined, pairs = (
        own_name(name, None) for name in ("classes", "neighbors", "mined", "pairs")
    )
    bars = [
        Bar(encoder, "logistic", classes, (k,), figure)
        for encoder, figures in (
            ("minilm", (0.655, 0.675, 0.675)),
            ("e5", (0.685, 0.70, 0.70)),
        )
        for k, figure in zip((16, 32, FULL), figures, strict=True)
    ]
    bars += [
        Bar("minilm", "10-NN", classes, lengths, figure)
        for lengths, figure in (
            ((8,), 0.57),
            ((32,), 0.66),
            ((64, 128, 256, FULL), 0.66),
        )
    ]
    for row, lengths, minilm, e5 in (
        (neighbors, (16, 32, 64), (0.22, 0.335, 0.42), (0.10, 0.22, 0.34)),
        (mined, (16, 32, 64), (0.25, 0.36, 0.435), (0.235, 0.345, 0.415)),
        (pairs, (8, 32, 128), (0.117, 0.365, 0.49), (0.117, 0.353, 0.473)),
    ):
        for encoder, figures in (("minilm", minilm), ("e5", e5)):
            bars += [
                Bar(encoder, "recall@10", row + OTHER_SIDE, (k,), figure)
                for k, figure in zip(lengths, figures, strict=True)
            ]
    return bars


def _show_figures(results: Results, report: Report, encoders: set[str]) -> None:
    body = []
    for bar in _figure_bars():
        if bar.encoder not in encoders:
            continue
        means = [
            results.splits(bar.encoder, bar.score, bar.row, k).mean()
            for k in bar.lengths
        ]
        body.append(
            [
                f"{bar.encoder} {bar.score} {bar.row}",
                ", ".join(map(str, bar.lengths)),
                f"{bar.figure:.3f}",
                f"{min(means):.4f}",
                _verdict(min(means) >= bar.figure),
            ]
        )
    report.table("Bars", ["score", "length", "bar", "reached", "met"], body)


def _show_mixtures(results: Results, report: Report, encoders: set[str]) -> None:
    body = []
    for encoder in sorted(encoders, reverse=True):
        for row in results.rows(encoder, "logistic"):
            if "{" not in row:
                continue
            for peer, suffix in ((PCA_ROW, ""), (PCA_ROW, ", two means")):
                above = [
                    results.gaps(encoder, score, row, peer, LENGTHS)
                    for score in SCORES[:2]
                ]
                above.append(
                    results.gaps(
                        encoder,
                        SCORES[2],
                        row + OTHER_SIDE,
                        peer + suffix,
                        LENGTHS,
                    )
                )
                n_splits = above[0].shape[1]
                count = int(np.all(np.array(above) > 0, axis=(0, 1)).sum())
                body.append(
                    [
                        f"{encoder} {row} over {peer}{suffix}",
                        *(f"{gaps.min():+.3f}" for gaps in above),
                        f"{count} of {n_splits}",
                        _verdict(count == n_splits),
                    ]
                )
    report.table(
        "One mixed fit above PCA on every score at every length 8..256, in every "
        "split: smallest difference per score, splits in which all are above (the "
        "bar is over PCA; two means beside for information)",
        ["fit", *SCORES, "splits", "met"],
        body,
    )


def _show_blocks(results: Results, report: Report) -> None:
    body = []
    for row in results.rows("wordllama", "recall@10"):
        if not row.endswith(OTHER_SIDE):
            continue
        gaps = results.gaps(
            "wordllama", "recall@10", row, RAW_ROW, (*LENGTHS[:-1], FULL)
        )
        means = gaps.mean(axis=1)
        body.append(
            [
                row,
                *(f"{gap:+.4f}" for gap in means),
                f"{gaps.min():+.4f}",
                _verdict(means.min() >= 0) if "blocks" in row else "-",
            ]
        )
    report.table(
        "WordLlama, recall@10 minus plain truncation, mean over splits (the bar is on "
        "fits with blocks: never under)",
        ["fit", *map(str, LENGTHS[:-1]), "full", "lowest split", "met"],
        body,
    )


def _verdict(met: bool) -> str:
    return "yes" if met else "no"
