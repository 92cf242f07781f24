"""What the display of an index model draws."""

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from numpy.testing import assert_allclose, assert_array_equal
from scipy.interpolate import make_lsq_spline
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrep.datasets import make_index_model
from skrep.inspection import IndexDisplay


class Index(TransformerMixin, BaseEstimator):
    """Has the attributes of an index model, as given."""

    def __init__(self, directions=2, eigenvalues=(0.5, 0.3, 0.1, 0.05), edge=0.2):
        self.directions = directions
        self.eigenvalues = eigenvalues
        self.edge = edge

    def fit(self, X, y=None):
        self.components_ = np.eye(X.shape[1])[: self.directions]
        self.eigenvalues_ = np.array(self.eigenvalues)
        self.noise_edge_ = self.edge
        self.n_components_ = self.directions
        return self

    def transform(self, X):
        return np.asarray(X) @ self.components_.T


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    return X, X[:, 0] * X[:, 1]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def labels(ax):
    return ax.get_xlabel(), ax.get_ylabel()


def test_two_directions_are_the_axes_and_the_response_is_the_color(data):
    X, y = data
    display = IndexDisplay.from_estimator(Index().fit(X), X, y)
    (points,) = display.points_
    assert_array_equal(points.get_offsets(), X[:, :2])
    assert_array_equal(points.get_array(), y)
    assert_allclose(points.get_clim(), np.quantile(y, [0.02, 0.98]))
    assert labels(display.ax_) == ("Direction 1", "Direction 2")
    assert display.figure_ is display.ax_.figure
    bar = next(ax for ax in display.figure_.axes if ax is not display.ax_)
    assert bar.get_ylabel() == "Response"
    assert display.smooth_ is None
    assert (display.bars_, display.edge_) == ([], None)
    display.figure_.canvas.draw()


@pytest.mark.parametrize("n_directions", [None, 1])
def test_one_direction_has_points_and_a_smooth(data, n_directions):
    X, y = data
    index = Index(directions=2 if n_directions else 1).fit(X)
    display = IndexDisplay.from_estimator(index, X, y, n_directions=n_directions)
    (points,) = display.points_
    assert_array_equal(points.get_offsets(), np.column_stack([X[:, 0], y]))
    assert labels(display.ax_) == ("Direction 1", "Response")
    drawn = display.smooth_.get_xdata()
    assert_allclose([drawn[0], drawn[-1]], [X[:, 0].min(), X[:, 0].max()])


@pytest.mark.parametrize(
    ("link", "function"),
    [
        ("linear", lambda u: u),
        ("sine", lambda u: np.sin(1.5 * u)),
        ("even", lambda u: u**2),
        ("cubic", lambda u: u**3 / 3),
    ],
)
def test_the_smooth_is_the_link(link, function):
    X, y, components = make_index_model(3000, links=link, random_state=0)
    index = X @ components.T
    display = IndexDisplay.from_indices(index, y)
    grid, fitted = display.smooth_.get_data()
    inner = np.abs(grid) < 2
    assert_allclose(fitted[inner], function(grid[inner]), atol=0.15 * y.std())
    order = np.argsort(index[:, 0])
    knots = np.quantile(index, np.linspace(0, 1, 12))
    knots = np.concatenate([knots[[0] * 3], knots, knots[[-1] * 3]])
    unpenalized = make_lsq_spline(index[order, 0], y[order], knots)(grid)
    assert_allclose(fitted[inner], unpenalized[inner], atol=0.05 * y.std())
    single = IndexDisplay.from_indices(index.astype(np.float32), y)
    assert_allclose(single.smooth_.get_ydata(), fitted, atol=1e-3 * y.std())


def test_few_rows_get_a_plain_curve_and_one_value_gets_none():
    rng = np.random.default_rng(0)
    index, y = rng.standard_normal((14, 1)), rng.standard_normal(14)
    grid, fitted = IndexDisplay.from_indices(index, y).smooth_.get_data()
    # A single cubic, not one that follows every row.
    assert_allclose(np.polyval(np.polyfit(grid, fitted, 3), grid), fitted, atol=1e-8)
    for n_rows in (1, 5):
        constant = IndexDisplay.from_indices(np.ones((n_rows, 1)), y[:n_rows])
        assert constant.smooth_ is None
        assert len(constant.points_) == 1
    pair = IndexDisplay.from_indices([[0.0], [1.0]], [1.0, 2.0])
    assert np.isfinite(pair.smooth_.get_ydata()).all()
    ties = IndexDisplay.from_indices(np.arange(40)[:, None] % 2, np.arange(40.0))
    assert np.isfinite(ties.smooth_.get_ydata()).all()


def test_classes_have_colors_and_a_legend(data):
    X, _ = data
    y = pd.Series(np.where(X[:, 0] > 0, "up", "down"), name="side")
    display = IndexDisplay.from_estimator(Index().fit(X), X, y)
    for points, label in zip(display.points_, ["down", "up"], strict=True):
        assert_array_equal(points.get_offsets(), X[y == label, :2])
    colors = [tuple(points.get_facecolor()[0]) for points in display.points_]
    assert len(set(colors)) == 2
    assert legend(display.ax_) == ["down", "up"]
    assert display.ax_.get_legend().get_title().get_text() == "side"
    assert labels(display.ax_) == ("Direction 1", "Direction 2")


def test_classes_along_one_direction_are_histograms_with_common_bins(data):
    X, _ = data
    y = np.arange(60) % 3
    display = IndexDisplay.from_estimator(Index().fit(X), X, y, n_directions=1)
    edges = np.histogram_bin_edges(X[:, 0], 25)
    for code, bars in enumerate(display.bars_):
        heights = [bar.get_height() for bar in bars]
        assert_array_equal(heights, np.histogram(X[y == code, 0], edges)[0])
    assert legend(display.ax_) == ["0", "1", "2"]
    assert labels(display.ax_) == ("Direction 1", "Rows")
    assert (display.points_, display.smooth_) == ([], None)


def test_integers_are_classes_unless_told_otherwise(data):
    X, _ = data
    y = np.arange(60) % 3
    draw = IndexDisplay.from_estimator
    index = Index().fit(X)
    assert len(draw(index, X, y).points_) == 3
    assert len(draw(index, X, y, target_type="numbers").points_) == 1
    assert len(IndexDisplay.from_indices(X, y).points_) == 3
    told = IndexDisplay.from_indices(X, y, target_type="numbers")
    assert len(told.points_) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(index, X, np.arange(60), target_type="numbers")


def test_eigenvalues_with_the_edge_and_those_kept(data):
    X, y = data
    index = Index().fit(X)
    display = IndexDisplay.from_estimator(index, kind="eigenvalues")
    kept, others = display.bars_
    assert_array_equal([bar.get_height() for bar in kept], [0.5, 0.3])
    assert_array_equal([bar.get_height() for bar in others], [0.1, 0.05])
    places = [bar.get_x() + bar.get_width() / 2 for bar in [*kept, *others]]
    assert_allclose(places, [1, 2, 3, 4])
    assert kept[0].get_facecolor() != others[0].get_facecolor()
    assert set(display.edge_.get_ydata()) == {0.2}
    assert display.edge_.get_linestyle() == "--"
    assert sorted(legend(display.ax_)) == ["kept: 2", "noise edge"]
    assert labels(display.ax_) == ("Direction", "Eigenvalue")
    display.figure_.canvas.draw()
    ticks = display.ax_.get_xticks()
    assert_array_equal(ticks, np.round(ticks))
    again = IndexDisplay.from_estimator(index, X, y).plot(kind="eigenvalues")
    assert len(again.bars_[0]) == 2
    assert again.points_ == []


def test_eigenvalues_of_none_kept_and_of_what_tells_neither_edge_nor_number(data):
    X, _ = data
    none = IndexDisplay.from_estimator(Index(directions=0).fit(X), kind="eigenvalues")
    assert [len(bars) for bars in none.bars_] == [0, 4]
    assert "kept: 0" in legend(none.ax_)
    unknown = Index(edge=np.nan).fit(X)
    display = IndexDisplay.from_estimator(unknown, kind="eigenvalues")
    assert display.edge_ is None
    assert legend(display.ax_) == ["kept: 2"]
    bare = IndexDisplay(eigenvalues=[2.0, 1.0]).plot(kind="eigenvalues")
    assert [len(bars) for bars in bare.bars_] == [2, 0]
    assert bare.bars_[0][0].get_facecolor() == to_rgba("C0")
    assert bare.ax_.get_legend() is None
    assert bare.edge_ is None


def test_estimators_of_scikit_learn_and_axes_of_ones_own():
    X, y, _ = make_index_model(100, 5, random_state=0)
    _, ax = plt.subplots()
    pls = make_pipeline(StandardScaler(), PLSRegression(2)).fit(X, y)
    display = IndexDisplay.from_estimator(pls, X, y, n_directions=1, ax=ax)
    assert display.ax_ is ax
    assert_array_equal(display.points_[0].get_offsets()[:, 0], pls.transform(X)[:, 0])
    lda = LinearDiscriminantAnalysis().fit(X, y > 0).set_output(transform="pandas")
    assert len(IndexDisplay.from_estimator(lda, X, y > 0).bars_) == 2
    assert IndexDisplay.from_indices(X, y, ax=ax).ax_ is ax
    assert display.plot() is display
    assert display.ax_ is not ax
    assert display.plot(ax, n_directions=2).ax_ is ax


def test_errors_name_the_remedy(data):
    X, y = data
    index = Index().fit(X)
    draw = IndexDisplay.from_estimator
    with pytest.raises(NotFittedError):
        draw(PLSRegression(), kind="eigenvalues")
    with pytest.raises(ValueError, match=r"'link'.*Pass kind=\"response\", say"):
        draw(index, X, y, kind="link")
    with pytest.raises(ValueError, match=r"no eigenvalues_.*step of a pipeline"):
        draw(PLSRegression().fit(X, y), kind="eigenvalues")
    for rows in ({}, {"y": y}):
        with pytest.raises(ValueError, match="Pass X and y to from_estimator"):
            draw(index, **rows)
    with pytest.raises(ValueError, match=r"from_estimator: requires y.* Pass y with"):
        draw(index, X)
    with pytest.raises(ValueError, match=r"pass one column, such as y\[:, 0\]"):
        draw(index, X, X)
    with pytest.raises(ValueError, match=r"from_indices: 'y' has 60 entries, but X"):
        IndexDisplay.from_indices(X[1:], y)
    with pytest.raises(ValueError, match=r"Input indices contains NaN.* fill them in"):
        IndexDisplay.from_indices(np.full((60, 2), np.nan), y)
    with pytest.raises(ValueError, match=r"0 directions.*Set n_components=1"):
        draw(Index(directions=0).fit(X), X, y)
    for wrong in (0, 3, "two", True, 1.5):
        with pytest.raises(ValueError, match=r"'n_directions' is .*n_directions=2"):
            draw(index, X, y, n_directions=wrong)
    with pytest.raises(ValueError, match=r"of the 1 directions.*n_directions=1"):
        IndexDisplay.from_indices(X[:, :1], y, n_directions=2)
    assert not plt.get_fignums()


def test_without_matplotlib_the_message_tells_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in (
        lambda: IndexDisplay.from_estimator(None),
        lambda: IndexDisplay.from_indices(np.eye(3), np.ones(3)),
        lambda: IndexDisplay().plot(),
    ):
        with pytest.raises(ImportError, match=r"pip install 'skrep\[plot\]'"):
            draw()
