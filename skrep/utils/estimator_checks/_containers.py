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
    fitted,
    make_rows,
    make_target,
    output,
    refusal,
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
    """float32 in gives float32 fitted arrays and float32 out."""
    X = make_rows().astype(np.float32)
    y = make_target(estimator, X)
    model = fitted(estimator, X, y)
    if get_tags(estimator).transformer_tags.preserves_dtype:
        assert output(model, X).dtype == np.float32, f"{name}: output is not float32"
    for key, value in vars(model).items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert value.dtype == np.float32, f"{name}: '{key}' is {value.dtype}"
    wide = output(fitted(estimator, X.astype(np.float64), y), X.astype(np.float64))
    np.testing.assert_allclose(
        output(model, X), wide, rtol=1e-2, atol=1e-3 * np.abs(wide).max()
    )


def check_number_types(name: str, estimator: Any) -> None:
    """Integers, half floats, lists and float64 give what float64 gives."""
    X = np.round(make_rows() * 4)
    y = make_target(estimator, X)
    expected = output(fitted(estimator, X, y), X)
    others = (
        X.astype(np.int64),
        X.astype(np.uint8),
        X.tolist(),
        np.asfortranarray(X),
    )
    for other in others:
        np.testing.assert_allclose(
            output(fitted(estimator, other, y), other),
            expected,
            rtol=1e-7,
            atol=1e-7,
            err_msg=f"{name}: {type(other).__name__} input changes the result",
        )
    half = X.astype(np.float16)
    assert np.isfinite(output(fitted(estimator, half, y), half)).all()


def check_input_is_left_alone(name: str, estimator: Any) -> None:
    """Read-only and memory-mapped input serves, and input is never written to."""
    X = make_rows()
    y = make_target(estimator, X)
    expected = output(fitted(estimator, X, y), X)
    np.testing.assert_array_equal(X, make_rows(), f"{name}: X was written to")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "X.joblib")
        joblib.dump(X, path)
        mapped = joblib.load(path, mmap_mode="r")
        np.testing.assert_allclose(
            output(fitted(estimator, mapped, y), mapped), expected
        )
        del mapped


def check_sparse(name: str, estimator: Any) -> None:
    """CSR matrix and array give the dense result, or a TypeError with the remedy."""
    dense = make_rows()
    dense[np.random.default_rng(2).random(dense.shape) < 0.5] = 0
    y = make_target(estimator, dense)
    for container in (sp.csr_matrix, sp.csr_array):
        X = container(dense)
        if not get_tags(estimator).input_tags.sparse:
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
    X = make_rows()
    y = make_target(estimator, X)
    names = [f"column {j}" for j in range(X.shape[1])]
    index = [f"row {i}" for i in range(len(X))]
    frame = pandas.DataFrame(X, columns=names, index=index)
    model = fitted(estimator, frame, y).set_output(transform="pandas")
    out = model.transform(frame)
    assert list(out.index) == index, f"{name}: the index was lost"
    assert list(out.columns) == list(model.get_feature_names_out())
    assert all(type(column) is str for column in out.columns)
    assert len(set(out.columns)) == out.shape[1], f"{name}: column names repeat"
    table = polars.DataFrame(X, schema=names)
    model = fitted(estimator, table, y).set_output(transform="polars")
    np.testing.assert_allclose(model.transform(table).to_numpy(), out.to_numpy())
    wrong = {
        "reordered": frame[names[::-1]],
        "missing": frame[names[1:]],
        "extra": frame.assign(extra=0.0),
    }
    for kind, bad in wrong.items():
        refusal(partial(model.transform, bad), f"{name}: {kind} columns")
