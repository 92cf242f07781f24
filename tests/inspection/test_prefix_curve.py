"""What the display draws."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.decomposition import PCA
from sklearn.utils.multiclass import type_of_target

from skrep.inspection import PrefixCurveDisplay
from skrep.metrics import prefix_scores

TABLE = {
    "prefix": np.array([8, 16, 24]),
    "knn": np.array([0.2, 0.5, 0.4]),
    "recall_at_k": np.array([0.1, 0.3, 0.35]),
}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def ticks(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_draws_every_score_with_lengths_as_ticks():
    display = PrefixCurveDisplay.from_scores(TABLE)
    ax = display.ax_
    assert display.figure_ is ax.figure
    assert ax.get_xscale() == "log"
    assert ticks(ax) == ["8", "16", "24"]
    assert_array_equal(ax.get_xticks(), [8, 16, 24])
    assert_array_equal(ax.get_xticks(minor=True), [])
    assert legend(ax) == ["knn", "recall_at_k"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Prefix length", "score")
    for line, name in zip(display.lines_, ["knn", "recall_at_k"], strict=True):
        assert_array_equal(line.get_xdata(), TABLE["prefix"])
        assert_array_equal(line.get_ydata(), TABLE[name])
    for dashed, line in zip(display.longest_lines_, display.lines_, strict=True):
        assert set(dashed.get_ydata()) == {line.get_ydata()[-1]}
        assert dashed.get_color() == line.get_color()
        assert dashed.get_linestyle() == "--"
    display.figure_.canvas.draw()


def test_one_score_names_the_axis_and_the_curve_keeps_its_name():
    display = PrefixCurveDisplay.from_scores(TABLE, score="recall_at_k", name="mine")
    assert display.ax_.get_ylabel() == "recall at k"
    assert legend(display.ax_) == ["mine"]
    assert_array_equal(display.lines_[0].get_ydata(), TABLE["recall_at_k"])
    both = PrefixCurveDisplay.from_scores(TABLE, name="mine")
    assert legend(both.ax_) == ["mine: knn", "mine: recall_at_k"]


@pytest.mark.parametrize("form", [dict, pd.DataFrame, pl.DataFrame])
def test_several_curves_on_one_axes(form):
    longer = {**TABLE, "prefix": np.array([32, 4, 16])}
    scores = {"a": form(TABLE), "b": form(longer)}
    display = PrefixCurveDisplay.from_scores(scores, score="knn")
    assert legend(display.ax_) == ["a", "b"]
    assert ticks(display.ax_) == ["4", "8", "16", "24", "32"]
    assert_array_equal(display.lines_[1].get_xdata(), [4, 16, 32])
    assert_array_equal(display.lines_[1].get_ydata(), [0.5, 0.4, 0.2])
    every = PrefixCurveDisplay.from_scores(scores)
    assert len(every.lines_) == 4
    assert "b: recall_at_k" in legend(every.ax_)


def test_from_estimator_draws_prefix_scores():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 12)), np.arange(50) % 2
    pca = PCA().fit(X)
    options = {"queries": X[:20], "prefixes": [12, 3], "n_neighbors": 4, "k": 2}
    expected = prefix_scores(pca, X, y, **options)
    display = PrefixCurveDisplay.from_estimator(pca, X, y, **options)
    drawn = dict(zip(list(expected)[1:], display.lines_, strict=True))
    for name, line in drawn.items():
        assert_array_equal(line.get_ydata(), expected[name])
        assert line.get_label() == f"PCA: {name}"
    _, ax = plt.subplots()
    alone = PrefixCurveDisplay.from_estimator(
        pca,
        X,
        y,
        scoring={"kinds": lambda Z, y: type_of_target(y) == "binary"},
        score="kinds",
        name="other",
        ax=ax,
        curve_kwargs={"color": "k", "marker": ""},
    )
    assert alone.ax_ is ax
    assert legend(ax) == ["other"]
    assert alone.lines_[0].get_color() == "k"


def test_a_second_display_on_the_same_axes_keeps_the_ticks_of_the_first():
    first = PrefixCurveDisplay.from_scores(TABLE, score="knn", name="a")
    longer = {"prefix": [2, 4], "knn": [0.1, 0.2]}
    second = PrefixCurveDisplay.from_scores(longer, name="b", ax=first.ax_)
    assert ticks(second.ax_) == ["2", "4", "8", "16", "24"]
    assert legend(second.ax_) == ["a", "b"]


def test_many_lengths_are_labeled_by_powers_of_two():
    lengths = np.arange(3, 40)
    table = {"prefix": lengths, "knn": lengths / 40}
    assert ticks(PrefixCurveDisplay.from_scores(table).ax_) == ["4", "8", "16", "32"]


def test_plot_again_on_new_axes_and_a_style_for_each_curve():
    display = PrefixCurveDisplay.from_scores(TABLE)
    before = display.ax_
    styles = [{"color": "r", "ls": ":"}, {"color": "b", "label": "mine"}]
    assert display.plot(curve_kwargs=styles) is display
    assert display.ax_ is not before
    assert [line.get_color() for line in display.lines_] == ["r", "b"]
    assert legend(display.ax_) == ["knn", "mine"]
    with pytest.raises(ValueError, match=r"has 1 entries.*one dict for all"):
        display.plot(curve_kwargs=styles[:1])


def test_errors_name_the_remedy():
    draw = PrefixCurveDisplay.from_scores
    for bad in ({}, {"knn": [1.0]}, [1.0], {"a": TABLE, "b": 3}, np.ones(3)):
        with pytest.raises(ValueError, match="Pass the result of prefix_scores"):
            draw(bad)
    with pytest.raises(ValueError, match=r"not among the scores.*score=None for all"):
        draw(TABLE, score="accuracy")
    with pytest.raises(ValueError, match="Leave name out"):
        draw({"a": TABLE, "b": TABLE}, name="c")


def test_without_matplotlib_the_message_tells_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    X = np.eye(3)
    for draw in (
        lambda: PrefixCurveDisplay.from_scores(TABLE),
        lambda: PrefixCurveDisplay.from_estimator(None, X),
    ):
        with pytest.raises(ImportError, match=r"pip install 'skrep\[plot\]'"):
            draw()
