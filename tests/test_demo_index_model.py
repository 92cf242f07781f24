"""The demo's question about directions: what it says follows from what it measured."""

import re

import pytest
from matplotlib.figure import Figure

from skrep._demo import index_model


@pytest.fixture(scope="module")
def answer():
    return index_model.answer()


@pytest.fixture(scope="module")
def scores(answer):
    head = answer.table[0][2:]
    return {
        (target, by): dict(
            zip(head, [float(c.rstrip(" %")) for c in cells], strict=True)
        )
        for target, by, *cells in answer.table[1:]
    }


def test_one_direction_serves_as_well_as_all_columns(scores):
    assert len(scores) == 4
    for values in scores.values():
        assert values["SteinIndex 1"] >= values["all columns"] - 1
        assert values["SteinIndex 1"] > values["PLS 1"] + 5 > values["PCA 1"] + 5


def test_conclusion_follows_from_the_table(answer, scores):
    said = re.findall(
        r"(\w+) (\d+) % \(all columns (\d+) %, one of PLS (\d+) %\)", answer.conclusion
    )
    shown = [
        (target, values["SteinIndex 1"], values["all columns"], values["PLS 1"])
        for by in ("ridge", "neighbors")
        for (target, head), values in scores.items()
        if head == by
    ]
    assert [(name, *map(float, numbers)) for name, *numbers in said] == shown
    behind = [
        (row, way)
        for row, values in scores.items()
        for way in values
        if way[-1] in "12" and values[way] > values[f"SteinIndex {way[-1]}"]
    ]
    assert f"behind in {len(behind)} of 16" in answer.conclusion


def test_drawing_has_a_bar_for_every_score_of_neighbors(answer, scores):
    axes = Figure().subplots()
    answer.draw(axes)
    heights = sorted(bar.get_height() for bar in axes.patches)
    shown = sorted(
        value
        for (_, head), values in scores.items()
        if head == "neighbors"
        for value in values.values()
    )
    assert heights == pytest.approx(shown, abs=0.51)
