"""Promises about the containers and number types of input and output."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags

from skrep.utils._optional import require
from skrep.utils.estimator_checks._data import (
    coarse_rows,
    fitted,
    has_labels,
    kind_of,
    make_rows,
    make_target,
    output,
    refusal,
    row_method,
    seeded,
)

__all__ = [
    "check_float32_stays",
    "check_frames",
    "check_input_is_left_alone",
    "check_number_types",
    "check_sparse",
]


def check_float32_stays(name: str, estimator: Any) -> None:
    """float32 in gives float32 fitted arrays and float32 out, and the same numbers.

    Strings have no float type. An estimator may say that its output has a type of its
    own, and one that answers to no new rows may fill the range that its type has.
    """
    if has_labels(estimator):
        return
    X = make_rows(estimator).astype(np.float32)
    y = make_target(estimator, X)
    model = fitted(estimator, X, y)
    bare = row_method(model) is None
    tags = get_tags(estimator).transformer_tags
    own_type = tags is not None and not tags.preserves_dtype
    if tags is not None and not own_type:
        assert output(model, X).dtype == np.float32, f"{name}: output is not float32"
    for key in vars(model).keys() - ({"embedding_"} if own_type and bare else set()):
        value = getattr(model, key)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert value.dtype == np.float32, f"{name}: '{key}' is {value.dtype}"
    if bare:
        return
    wide = output(fitted(estimator, X.astype(np.float64), y), X.astype(np.float64))
    np.testing.assert_allclose(
        output(model, X), wide, rtol=1e-2, atol=1e-3 * np.abs(wide).max()
    )


def check_number_types(name: str, estimator: Any) -> None:
    """Integers, half floats, lists and float64 give what float64 gives.

    Strings of fixed width and lists give what objects give.
    """
    X = coarse_rows(estimator)
    y = make_target(estimator, X)
    expected = output(fitted(estimator, X, y), X)
    words = has_labels(estimator)
    types = (np.str_,) if words else (np.int64, np.uint8)
    others = *(X.astype(kind) for kind in types), X.tolist(), np.asfortranarray(X)
    for other in others:
        np.testing.assert_allclose(
            output(fitted(estimator, other, y), other),
            expected,
            rtol=1e-7,
            atol=1e-7,
            err_msg=f"{name}: {type(other).__name__} input changes the result",
        )
    if not words:
        half = X.astype(np.float16)
        assert np.isfinite(output(fitted(estimator, half, y), half)).all()


def check_input_is_left_alone(name: str, estimator: Any) -> None:
    """Read-only and memory-mapped input serves, and input is never written to."""
    X = make_rows(estimator)
    y = make_target(estimator, X)
    expected = output(fitted(estimator, X, y), X)
    np.testing.assert_array_equal(X, make_rows(estimator), f"{name}: X was written to")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "X.joblib")
        # Objects cannot be mapped, strings of fixed width can.
        joblib.dump(X.astype(np.str_) if X.dtype == object else X, path)
        mapped = joblib.load(path, mmap_mode="r")
        np.testing.assert_allclose(
            output(fitted(estimator, mapped, y), mapped), expected
        )
        del mapped


def check_sparse(name: str, estimator: Any) -> None:
    """CSR matrix and array give the dense result, or a TypeError with the remedy."""
    accepted = get_tags(estimator).input_tags.sparse
    dense = make_rows(estimator)
    if has_labels(estimator):
        dense = np.eye(len(dense))
    elif kind_of(estimator) != "graph":
        dense[np.random.default_rng(2).random(dense.shape) < 0.5] = 0
    y = make_target(estimator, dense)
    for container in (sp.csr_matrix, sp.csr_array):
        X = container(dense)
        if not accepted:
            message = refusal(
                partial(seeded(estimator).fit, X, y), name, error=TypeError
            )
            assert "toarray" in message, f"{name}: no remedy in {message!r}"
            continue
        kept = X.copy()
        model = seeded(estimator).fit(X, y)
        np.testing.assert_allclose(
            output(model, X),
            output(fitted(estimator, dense, y), dense),
            rtol=1e-6,
            atol=1e-6,
            err_msg=f"{name}: {container.__name__} and dense rows differ",
        )
        assert (kept != X).nnz == 0, f"{name}: the CSR input was written to"


def check_frames(name: str, estimator: Any) -> None:
    """Frames keep index and names; wrong columns are refused."""
    pandas = require("pandas", "check_frames")
    polars = require("polars", "check_frames")
    X = make_rows(estimator)
    y = make_target(estimator, X)
    names = [f"column {j}" for j in range(X.shape[1])]
    index = [f"row {i}" for i in range(len(X))]
    frame = pandas.DataFrame(X, columns=names, index=index)
    table = polars.DataFrame(dict(zip(names, X.T.tolist(), strict=True)))
    expected = output(fitted(estimator, X, y), X)
    for rows in (frame, table):
        found = output(fitted(estimator, rows, y), rows)
        np.testing.assert_allclose(found, expected, err_msg=f"{name}: frames differ")
    model = fitted(estimator, X, y)
    if hasattr(model, "transform") and sp.issparse(model.transform(X)):
        message = refusal(partial(_framed, estimator, frame, y, "pandas"), name)
        assert "set_output" in message, f"{name}: no remedy in {message!r}"
    elif hasattr(estimator, "set_output"):
        out, columns = _framed(estimator, frame, y, "pandas")
        assert list(out.index) == index, f"{name}: the index was lost"
        assert list(out.columns) == columns
        assert all(type(column) is str for column in columns)
        assert len(set(columns)) == out.shape[1], f"{name}: column names repeat"
        other, columns = _framed(estimator, table, y, "polars")
        assert other.columns == columns
        np.testing.assert_allclose(other.to_numpy(), out.to_numpy())
    model = fitted(estimator, frame, y)
    method = row_method(model)
    if method is None:
        return
    wrong = {
        "reordered": frame[names[::-1]],
        "missing": frame[names[1:]],
        "extra": frame.assign(extra=0.0),
    }
    for kind, bad in wrong.items():
        refusal(partial(getattr(model, method), bad), f"{name}: {kind} columns")


def _framed(estimator: Any, X: Any, y: Any, library: str) -> tuple[Any, list[Any]]:
    """Give the output as a frame, and the names that its columns are to have."""
    model = seeded(estimator).set_output(transform=library)
    if hasattr(model, "transform"):
        out = model.fit(X, y).transform(X)
    else:
        out = model.fit_transform(X, y)
    return out, list(model.get_feature_names_out())
