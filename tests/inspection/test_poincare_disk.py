"""What the picture of the Poincare disk draws."""

import sys

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib.colors import to_rgba
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

from skrep.geometry import poincare
from skrep.graph import relations_from_edges
from skrep.hyperbolic import PoincareEmbedding, TreeEmbedding
from skrep.inspection import PoincareDiskDisplay


class Placed(BaseEstimator):
    """Has the points it is given as its embedding."""

    def fit(self, X, y=None):
        self.embedding_ = np.asarray(X)
        return self


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    points = rng.uniform(-0.6, 0.6, (12, 2))
    edges = np.zeros((12, 12))
    edges[np.arange(1, 12), rng.integers(0, np.arange(1, 12))] = 2.5
    return points, edges


def pairs(display):
    """The two ends of every line, as rows of the points."""
    ends = [line[[0, -1]] for line in display.edges_.get_segments()]
    gaps = np.linalg.norm(np.array(ends)[:, :, None] - display.points, axis=3)
    assert gaps.min(axis=2).max() < 1e-12
    return {frozenset(pair) for pair in gaps.argmin(axis=2).tolist()}


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_points_rim_and_nothing_else_by_default(data):
    points, _ = data
    display = PoincareDiskDisplay.from_points(points)
    (drawn,) = display.points_
    assert_allclose(drawn.get_offsets(), points, rtol=1e-12)
    assert display.boundary_.get_radius() == 1
    assert display.boundary_.center == (0, 0)
    assert not display.boundary_.get_fill()
    assert (display.edges_, display.texts_) == (None, [])
    assert display.ax_.get_legend() is None
    assert display.figure_ is display.ax_.figure
    assert display.ax_.get_aspect() == 1
    assert not display.ax_.axison
    low, high = display.ax_.get_xlim()
    assert low < -1 < 1 < high
    display.figure_.canvas.draw()


def test_each_edge_is_an_arc_at_right_angles_to_the_rim(data):
    points, edges = data
    display = PoincareDiskDisplay.from_points(points, edges=edges)
    assert pairs(display) == {frozenset(pair) for pair in np.argwhere(edges).tolist()}
    for line in display.edges_.get_segments():
        ends = line[[0, -1]]
        # A circle through both ends and orthogonal to the rim: |c|^2 = 1 + r^2.
        center = np.linalg.solve(2 * ends, 1 + np.sum(ends**2, axis=1))
        radius = np.sqrt(center @ center - 1)
        assert_allclose(np.linalg.norm(line - center, axis=1), radius, rtol=1e-9)
    length = sum(
        poincare.distance(line[1:], line[:-1]).sum()
        for line in display.edges_.get_segments()
    )
    rows, columns = np.nonzero(edges)
    exact = poincare.distance(points[rows], points[columns]).sum()
    assert_allclose(length, exact, rtol=1e-9)


def test_edges_in_any_container_and_direction_are_drawn_once(data):
    points, edges = data
    loops = edges + np.eye(12)
    for same in (edges.T, edges + edges.T, loops, sp.csr_matrix(edges), edges > 0):
        display = PoincareDiskDisplay.from_points(points, edges=same)
        assert len(display.edges_.get_segments()) == 11
        assert pairs(display) == {frozenset(p) for p in np.argwhere(edges).tolist()}


def test_points_beyond_any_screen_are_drawn_at_the_rim():
    far = np.array([[np.tanh(18.0), 0.0], [0.0, -np.tanh(18.0)], [0.0, 0.0]])
    path = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    display = PoincareDiskDisplay.from_points(far, edges=path)
    assert_allclose(display.points_[0].get_offsets(), far, atol=1e-6)
    arc = display.edges_.get_segments()[0]
    assert_allclose(np.linalg.norm(arc - [1, -1], axis=1), 1, atol=1e-5)


def test_classes_have_colors_and_a_legend(data):
    points, _ = data
    y = pd.Series(np.repeat(["cat", "dog", "whale"], 4), name="order")
    display = PoincareDiskDisplay.from_points(points, y=y)
    assert legend(display.ax_) == ["cat", "dog", "whale"]
    assert display.ax_.get_legend().get_title().get_text() == "order"
    for code, drawn in enumerate(display.points_):
        rows = points[4 * code : 4 * code + 4]
        assert_allclose(drawn.get_offsets(), rows, rtol=1e-12)
        assert_allclose(drawn.get_facecolor()[0], to_rgba(f"C{code}"))


def test_many_classes_have_different_colors_and_no_legend(data):
    rng = np.random.default_rng(0)
    points = rng.uniform(-0.5, 0.5, (26, 2))
    letters = np.array(list("abcdefghijklm") * 2)
    display = PoincareDiskDisplay.from_points(points, y=letters)
    assert display.ax_.get_legend() is None
    assert len({tuple(drawn.get_facecolor()[0]) for drawn in display.points_}) == 13
    fewer = PoincareDiskDisplay.from_points(points[:24], y=letters[[*range(12)] * 2])
    assert len(legend(fewer.ax_)) == 12


def test_numbers_are_a_scale_of_colors(data):
    points, _ = data
    y = np.linspace(0, 1, 12)
    display = PoincareDiskDisplay.from_points(points, y=y)
    (drawn,) = display.points_
    assert_array_equal(drawn.get_array(), y)
    assert_allclose(drawn.get_clim(), np.quantile(y, [0.02, 0.98]))
    bar = next(ax for ax in display.figure_.axes if ax is not display.ax_)
    assert bar.get_ylabel() == "Response"
    depth = np.arange(12) % 3
    assert len(PoincareDiskDisplay.from_points(points, y=depth).points_) == 3
    told = PoincareDiskDisplay.from_points(points, y=depth, target_type="numbers")
    assert len(told.points_) == 1


def test_names_stand_beside_their_points(data):
    points, _ = data
    display = PoincareDiskDisplay.from_points(points, names={3: "root", 0: "leaf"})
    assert [text.get_text() for text in display.texts_] == ["root", "leaf"]
    assert_allclose([text.xy for text in display.texts_], points[[3, 0]], rtol=1e-12)


def test_estimators_and_axes_of_ones_own(data):
    points, edges = data
    _, ax = plt.subplots()
    fitted = Placed().fit(points.astype(np.float32))
    display = PoincareDiskDisplay.from_estimator(
        fitted, edges=edges, y=np.arange(12) % 2, names={1: "one"}, ax=ax
    )
    assert display.ax_ is ax
    assert len(display.points_) == 2
    assert len(display.edges_.get_segments()) == 11
    assert display.texts_[0].get_text() == "one"
    assert PoincareDiskDisplay.from_points(points, ax=ax).ax_ is ax
    assert display.plot() is display
    assert display.ax_ is not ax
    tree, names = relations_from_edges([("a", "c"), ("b", "c")], closure=False)
    embedding = TreeEmbedding(2).fit(tree)
    told = PoincareDiskDisplay.from_estimator(
        embedding, edges=tree, names=dict(enumerate(names))
    )
    assert [text.get_text() for text in told.texts_] == ["a", "b", "c"]


def test_errors_name_the_remedy(data):
    points, edges = data
    draw = PoincareDiskDisplay.from_points
    with pytest.raises(NotFittedError):
        PoincareDiskDisplay.from_estimator(Placed())
    with pytest.raises(ValueError, match=r"StandardScaler has no embedding_.*from_poi"):
        PoincareDiskDisplay.from_estimator(StandardScaler().fit(points))
    with pytest.raises(ValueError, match=r"from_estimator: 'points' has 3 col.*nts=2"):
        PoincareDiskDisplay.from_estimator(Placed().fit(np.zeros((4, 3))))
    with pytest.raises(ValueError, match=r"norm 3 in row 1\. .*exp_map_origin\(points"):
        draw([[0.0, 0.0], [0.0, 3.0]])
    with pytest.raises(ValueError, match=r"points contains NaN.* fill them in"):
        draw(np.full((6, 2), np.nan))
    with pytest.raises(ValueError, match=r"'edges' has shape \(3, 3\).*\[nodes\]"):
        draw(points, edges=edges[:3, :3])
    with pytest.raises(ValueError, match=r"from_points: 'y' has 3 entries"):
        draw(points, y=[0, 1, 2])
    for mistaken in (
        [("a", "b"), ("c", "b")],
        np.argwhere(edges),
        [("a", "b", 1.0)],
        {"a": "b"},
        nx.path_graph(12),
    ):
        with pytest.raises(ValueError, match=r"relations_from_edges\(edges, closure=F"):
            draw(points, edges=mistaken)
    with pytest.raises(ValueError, match=r"relations_from_edges\(edges, closure=False"):
        draw(points[:2], edges=[("a", "b"), ("c", "b")])
    with pytest.raises(ValueError, match=r"matrix and its labels.* Pass edges\.matrix"):
        draw(points, edges=relations_from_edges(nx.path_graph(12), closure=False))
    with pytest.raises(ValueError, match=r"^PoincareDiskDisplay.*inhomogeneous"):
        draw(points, edges=[(0, 1), (1,)])
    draw(points[:2], edges=[[0, 1], [1, 0]])
    draw(points[:3], edges=sp.csr_array(edges[:3, :3]))
    flat = PoincareEmbedding(
        2, affinity="precomputed", model="euclidean", max_epochs=1, random_state=0
    ).fit(edges)
    with pytest.raises(ValueError, match=r"fitted with model='euclidean'.*'poincare'"):
        PoincareDiskDisplay.from_estimator(flat)
    with pytest.raises(ValueError, match=r"'names' has the key 12, .*names=\{0: 'root"):
        draw(points, names={np.int64(12): "there"})
    plt.close("all")
    for node in (12, -1, "root"):
        with pytest.raises(ValueError, match=r"'names' has the key .*names=\{0: 'roo"):
            draw(points, names={node: "there"})
    assert not plt.get_fignums()


def test_without_matplotlib_the_message_tells_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for call in (
        lambda: PoincareDiskDisplay.from_estimator(None),
        lambda: PoincareDiskDisplay.from_points(np.zeros((3, 2))),
        lambda: PoincareDiskDisplay(points=np.zeros((3, 2))).plot(),
    ):
        with pytest.raises(ImportError, match=r"pip install 'skrep\[plot\]'"):
            call()


def test_a_matrix_of_zeros_draws_no_edge():
    display = PoincareDiskDisplay.from_points(
        [[0.1, 0], [0, 0.2]], edges=np.zeros((2, 2))
    )
    assert len(display.edges_.get_segments()) == 0
