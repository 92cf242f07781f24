"""Small helpers."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from skrep.relative._inputs import unique_labels
from skrep.utils import require, row_blocks
from skrep.utils.validation import (
    check_sample_weight,
    row_labels,
    validate_encoded,
    validate_rows,
)


def test_a_missing_package_tells_how_to_install_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'skrep\[torch\]'"):
        require("torch", "This test")
    with pytest.raises(ImportError, match="pip install 'not_there'"):
        require("not_there", "This test")


def test_an_error_inside_a_package_is_not_hidden(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import missing_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="missing_dependency"):
        require("broken_package", "This test")


@given(
    n_rows=st.integers(0, 50),
    row_bytes=st.integers(0, 100),
    budget=st.integers(1, 1000),
)
def test_blocks_cover_the_rows_within_the_budget(n_rows, row_bytes, budget):
    blocks = list(row_blocks(n_rows, row_bytes, budget=budget))
    assert [i for b in blocks for i in range(b.start, b.stop)] == list(range(n_rows))
    for block in blocks:
        rows = block.stop - block.start
        assert rows == 1 or rows * row_bytes <= budget


@pytest.mark.parametrize(
    "weights", [[-1.0, 2, 3], [0.0, 0, 0], [1.0, 2], [1.0, np.nan, 1]]
)
def test_bad_weights(weights):
    with pytest.raises(ValueError, match="weight"):
        check_sample_weight("this test", weights, 3)


def test_row_labels_are_strings_of_an_index():
    frame = pd.DataFrame({"x": [1.0, 2.0]})
    assert row_labels(frame) is None
    assert row_labels(frame.set_axis(["a", "b"])) == ["a", "b"]
    assert row_labels([1, 2]) is None


@given(st.lists(st.sampled_from(["a", "a_2", "a_3", "b"]), max_size=8))
def test_unique_labels_are_unique_and_start_as_given(labels):
    found = unique_labels(labels)
    assert len(set(found)) == len(labels)
    assert all(new.startswith(old) for new, old in zip(found, labels, strict=True))
    for label in set(labels):
        assert found[labels.index(label)] == label


@pytest.mark.parametrize("container", [np.array, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (-np.inf, "infinity")])
def test_bad_entries_are_located(container, value, word):
    X = np.ones((4, 3))
    X[2, 1] = value
    with pytest.raises(ValueError, match=f"BaseEstimator: 'X' contains {word}.*row 2"):
        validate_rows(BaseEstimator(), container(X), reset=True, accept_sparse=("csr",))


def test_a_column_named_nan_is_not_a_missing_value():
    frame = pd.DataFrame({"x": [1.0, 2.0], "NaN_share": [3.0, 4.0]})
    estimator = BaseEstimator()
    validate_rows(estimator, frame, reset=True)
    with pytest.raises(ValueError, match="Feature names seen at fit time"):
        validate_rows(estimator, frame[["x"]], reset=False)


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean"])
def test_missing_values_of_nullable_columns_are_located(dtype):
    column = pd.array([1, None, 0], dtype=dtype)
    frame = pd.DataFrame({"a": column, "b": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="row 1, column 'a'"):
        validate_rows(BaseEstimator(), frame, reset=True)


@pytest.mark.parametrize("bad", [[["a"]], [[1j]], [[[1.0]]], [1.0], [[np.nan]]])
def test_what_cannot_be_inverted_names_the_estimator(bad):
    with pytest.raises((TypeError, ValueError), match=r"BaseEstimator.inverse_transf"):
        validate_encoded(BaseEstimator(), bad, 1)


@pytest.mark.parametrize("weights", [[1.0, np.nan], ["a", "b"]])
def test_bad_weights_name_who_got_them(weights):
    with pytest.raises(ValueError, match=r"^example: 'sample_weight'"):
        check_sample_weight("example", weights, 2)
