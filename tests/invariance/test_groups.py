"""Group elements: what they keep, how they are undone, what they accept."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist

from skrep.invariance import GROUPS
from skrep.invariance._groups import _DRAW, draw_element

LINEAR = ["orthogonal", "rotation", "invertible_linear", "invertible_affine"]
DENSIFYING = [*LINEAR, "translation"]
SCALINGS = ["positive_scaling", "row_scaling", "column_scaling", "sign_flip"]
ROWS = ["row_permutation", "tree_relabelling"]
seeds = st.integers(0, 2**31 - 1)


def law(**strategies):
    """Hold a law for 50 examples, without a time limit that a busy machine breaks."""
    return lambda test: settings(max_examples=50, deadline=None)(
        given(**strategies)(test)
    )


def data(seed, square=True, n_rows=6, n_columns=4):
    rng = np.random.default_rng(seed)
    shape = (n_rows, n_rows if square else n_columns)
    return rng.standard_normal(shape) + 1.0, np.arange(n_rows) % 3


def draw(group, X, y=None, seed=0):
    return draw_element(group, X, y, np.random.RandomState(seed))


def test_every_name_has_a_group():
    assert set(_DRAW) == set(GROUPS)


@pytest.mark.parametrize("group", GROUPS)
@law(seed=seeds)
def test_an_element_changes_something_and_its_inverse_undoes_it(group, seed):
    X, y = data(seed)
    kept_X, kept_y = X.copy(), y.copy()
    element = draw(group, X, y, seed)
    moved_X, moved_y = element.apply(X, y)
    assert not (np.array_equal(moved_X, X) and np.array_equal(moved_y, y))
    back_X, back_y = element.inverse().apply(moved_X, moved_y)
    assert_allclose(back_X, X, atol=1e-12)
    assert_array_equal(back_y, y)
    assert_array_equal(X, kept_X)
    assert_array_equal(y, kept_y)


@pytest.mark.parametrize("group", [*LINEAR, *SCALINGS, "translation", *ROWS[:1]])
@law(seed=seeds)
def test_outputs_are_acted_upon_as_inputs_are(group, seed):
    X, y = data(seed, square=False)
    element = draw(group, X, y, seed)
    assert_allclose(element.apply_output(X), element.apply(X, y)[0], atol=1e-12)
    assert_allclose(
        element.inverse().apply_output(element.apply_output(X)), X, atol=1e-12
    )


@law(seed=seeds)
def test_orthogonal_maps_keep_norms_and_rotations_keep_orientation(seed):
    X, _ = data(seed, square=False)
    for group in ("orthogonal", "rotation"):
        element = draw(group, X, seed=seed)
        moved, _ = element.apply(X)
        assert_allclose(np.linalg.norm(moved, axis=1), np.linalg.norm(X, axis=1))
        assert_allclose(moved @ moved.T, X @ X.T, atol=1e-12)
    assert_allclose(np.linalg.det(element.matrix), 1.0)


def test_orthogonal_draws_reflect_now_and_then():
    X, _ = data(0)
    signs = [np.linalg.det(draw("orthogonal", X, seed=s).matrix) for s in range(20)]
    assert min(signs) < 0 < max(signs)


@law(seed=seeds)
def test_translations_keep_differences_and_fit_each_column(seed):
    X, _ = data(seed, square=False)
    X *= [1e-6, 1.0, 1e6, 0.0]
    element = draw("translation", X, seed=seed)
    shift = np.abs(element.apply(X)[0] - X)
    assert_allclose(shift, np.broadcast_to(np.abs(element.offset), X.shape), rtol=1e-6)
    assert (np.abs(element.offset)[:3] >= 0.99 * X.std(axis=0)[:3]).all()
    assert (np.abs(element.offset)[:3] <= 3.01 * X.std(axis=0)[:3]).all()
    assert element.offset[3] != 0


@law(seed=seeds)
def test_scalings_are_positive_and_felt(seed):
    X, _ = data(seed, square=False)
    for group in SCALINGS[:3]:
        factors = draw(group, X, seed=seed).factors
        assert (factors > 0).all()
        assert (np.abs(np.log2(factors)) >= 1).all()
    assert set(np.unique(draw("sign_flip", X, seed=seed).factors)) <= {-1.0, 1.0}
    row_norms = np.linalg.norm(X, axis=1, keepdims=True)
    moved, _ = draw("row_scaling", X, seed=seed).apply(X)
    assert_allclose(moved / np.linalg.norm(moved, axis=1, keepdims=True), X / row_norms)


@law(seed=seeds, size=st.integers(1, 12))
def test_invertible_maps_are_well_conditioned(seed, size):
    X = np.zeros((3, size))
    matrix = draw("invertible_linear", X, seed=seed).matrix
    assert np.linalg.cond(matrix) <= 4.0 + 1e-9


@law(seed=seeds)
def test_permutations_move_samples_with_their_targets_and_weights(seed):
    X, y = data(seed)
    weights = np.linspace(1.0, 2.0, len(X))
    pairs = {(tuple(row), label) for row, label in zip(X, y, strict=True)}
    element = draw("row_permutation", X, y, seed)
    moved_X, moved_y = element.apply(X, y)
    assert {(tuple(r), v) for r, v in zip(moved_X, moved_y, strict=True)} == pairs
    assert_array_equal(element.apply_rowwise(weights), weights[element.order])


@law(seed=seeds)
def test_relabelling_keeps_the_tree(seed):
    rng = np.random.default_rng(seed)
    distances = rng.random((6, 6))
    element = draw("tree_relabelling", distances, seed=seed)
    moved, _ = element.apply(distances)
    for i, j in np.ndindex(6, 6):
        assert moved[i, j] == distances[element.order[i], element.order[j]]
    Z = rng.random((6, 2))
    assert_allclose(pdist(element.apply_output(Z)[np.argsort(element.order)]), pdist(Z))


@law(seed=seeds, names=st.sampled_from([[0, 1], [3, 5, 7], list("abc"), [1.0, 4.0]]))
def test_label_permutation_renames_classes(seed, names):
    y = np.random.default_rng(seed).permutation(np.repeat(names, 3))
    X = np.zeros((len(y), 2))
    element = draw("label_permutation", X, y, seed)
    same_X, renamed = element.apply(X, y)
    assert same_X is X
    assert renamed.dtype == y.dtype
    assert_array_equal(renamed[:, None] == renamed, y[:, None] == y)
    assert_array_equal(element.apply_output(y), renamed)
    classes = np.unique(y)
    one_hot = (y[:, None] == classes).astype(float)
    assert_array_equal(
        element.apply_output(one_hot), (renamed[:, None] == classes).astype(float)
    )


@pytest.mark.parametrize("group", GROUPS)
def test_float32_stays_and_integers_become_floats_where_they_must(group):
    X, y = data(0)
    assert draw(group, X, y).apply(X.astype(np.float32), y)[0].dtype == np.float32
    moved, _ = draw(group, X, y).apply(np.arange(36).reshape(6, 6), y)
    arithmetic = group in DENSIFYING + SCALINGS
    assert moved.dtype == (np.float64 if arithmetic else np.arange(1).dtype)


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_input_stays_sparse_or_is_refused(group, kind, dtype):
    X, y = data(0)
    X = np.where(X > 1, X, 0).astype(dtype)
    sparse = kind(X)
    element = draw(group, sparse, y)
    if group in DENSIFYING:
        with pytest.raises(TypeError, match=r"Pass X\.toarray\(\)"):
            element.apply(sparse, y)
        return
    moved, _ = element.apply(sparse, y)
    assert isinstance(moved, kind)
    assert moved.dtype == dtype
    assert_array_equal(sparse.toarray(), X)
    assert_allclose(moved.toarray(), element.apply(X, y)[0])


@pytest.mark.parametrize("group", GROUPS)
def test_frames_stay_frames(group):
    X, y = data(0)
    names = list("abcdef")
    index = [f"row {i}" for i in range(6)]
    series = pd.Series(y, index=index, name="target")
    frame = pd.DataFrame(X, columns=names, index=index)
    element = draw(group, frame, series)
    moved, moved_y = element.apply(frame, series)
    assert isinstance(moved, pd.DataFrame)
    assert isinstance(moved_y, pd.Series)
    expected, expected_y = element.apply(X, y)
    assert_allclose(moved.to_numpy(), expected)
    assert_array_equal(moved_y.to_numpy(), expected_y)
    if group in ROWS:
        assert list(moved.index) == list(moved_y.index)
    if group in ("column_permutation", "tree_relabelling"):
        assert list(moved.columns) == [names[j] for j in element.order]
    polars_frame = pl.DataFrame(X, schema=names, orient="row")
    moved, _ = draw(group, polars_frame, y).apply(polars_frame, y)
    assert isinstance(moved, pl.DataFrame)
    assert_allclose(moved.to_numpy(), expected)


@pytest.mark.parametrize("group", GROUPS)
def test_elements_say_what_they_are(group):
    X, y = data(0)
    text = repr(draw(group, X, y))
    assert text.startswith(f"<{group}: ")
    assert len(text) < 200
    assert any(character.isdigit() for character in text)


@pytest.mark.parametrize(
    ("group", "X", "y", "message"),
    [
        ("rotation", np.ones((3, 1)), None, "at least 2 columns"),
        ("column_permutation", np.ones((3, 1)), None, "at least 2 columns"),
        ("row_permutation", np.ones((1, 3)), None, "at least 2 rows"),
        ("tree_relabelling", np.ones((3, 2)), None, "square"),
        ("label_permutation", np.ones((3, 2)), None, "'y' is None"),
        ("label_permutation", np.ones((3, 2)), np.array([1, 1, 1]), "at least 2 class"),
        ("label_permutation", np.ones((3, 2)), np.array([0.5, 1.2, 3]), "continuous"),
        ("translation", np.ones(3), None, "1 dimension"),
    ],
)
def test_groups_say_when_they_cannot_act(group, X, y, message):
    with pytest.raises(ValueError, match=message):
        draw(group, X, y)


def test_words_are_no_numbers():
    frame = pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]})
    for group in ("translation", "column_scaling"):
        with pytest.raises(TypeError, match="acts on numbers"):
            draw(group, frame).apply(frame)
    moved, _ = draw("column_permutation", frame).apply(frame)
    assert list(moved.columns) == ["b", "a"]


@pytest.mark.parametrize(
    ("group", "Z"),
    [
        ("orthogonal", np.ones((6, 2))),
        ("column_scaling", np.ones((6, 2))),
        ("column_permutation", np.ones((6, 2))),
        ("row_permutation", np.ones((2, 6))),
        ("row_scaling", np.ones((2, 6))),
        ("label_permutation", np.linspace(0.1, 1, 6)),
    ],
)
def test_outputs_of_another_shape_cannot_be_acted_upon(group, Z):
    X, y = data(0)
    with pytest.raises(ValueError, match="Claim another relation"):
        draw(group, X, y).apply_output(Z)
