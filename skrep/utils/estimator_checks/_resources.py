"""Promises about memory and persistence."""

import io
import pickle
import tracemalloc
import warnings
from typing import Any

import joblib
import numpy as np
from sklearn.utils import get_tags

from skrep.exceptions import VersionMismatchWarning
from skrep.typing import AnyArray
from skrep.utils._optional import require
from skrep.utils.estimator_checks._data import (
    fitted,
    make_rows,
    output,
    row_method,
    seeded,
)

__all__ = ["check_memory", "check_pickle_holds_the_model", "check_round_trips"]


def check_memory(name: str, estimator: Any) -> None:
    """Transform or predict peaks under twice its input beyond its output."""
    some, X = _few_and_many(estimator, 20_000, 96)
    model = fitted(estimator, some)
    method = row_method(model)
    if method is None:
        return
    if hasattr(model, "embedding_"):
        # New rows are placed among the others one by one: as much input in fewer rows.
        some, X = _few_and_many(estimator, 2_000, 960)
        model = fitted(estimator, some)
    ask = getattr(model, method)
    ask(X[:10])
    tracemalloc.start()
    try:
        out = ask(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    size = out.nbytes if hasattr(out, "nbytes") else 3 * out.data.nbytes
    assert peak - size <= 2 * X.nbytes, (
        f"{name}: {method} of {X.nbytes / 1e6:.0f} MB peaked {peak / 1e6:.0f} MB"
    )


def _few_and_many(
    estimator: Any, n_rows: int, n_features: int
) -> tuple[AnyArray, AnyArray]:
    """Rows to fit on, and many rows to ask about; numbers in float32."""
    if get_tags(estimator).input_tags.pairwise:
        some = make_rows(estimator, 500)
        X = np.resize(some, (n_rows, 500))
    else:
        X = make_rows(estimator, n_rows, n_features)
        some = X[:500]
    if X.dtype == object:
        return some, X
    return some.astype(np.float32), X.astype(np.float32)


def check_pickle_holds_the_model(name: str, estimator: Any) -> None:
    """A pickle holds the model, not the data.

    A cluster for each row it was fitted on, in `labels_`, is part of a model. One that
    has a point for each, in `embedding_`, grows with the rows, and with nothing else:
    there is no square matrix in it.
    """
    models = [fitted(estimator, make_rows(estimator, n, 12)) for n in (500, 2000)]
    labels = [getattr(model, "labels_", np.empty(0)).nbytes for model in models]
    sizes = [
        len(pickle.dumps(model)) - size
        for model, size in zip(models, labels, strict=True)
    ]
    growth = 4 if hasattr(models[0], "embedding_") else 1
    assert sizes[1] <= 1.1 * growth * sizes[0], (
        f"{name}: the pickle grows with the rows, from {sizes[0]} to {sizes[1]} bytes"
    )


def check_round_trips(name: str, estimator: Any) -> None:
    """Pickle, joblib and skops give the model back; another version is announced."""
    X = make_rows(estimator)
    model = fitted(estimator, X)
    expected = output(model, X)
    state = model.__getstate__()
    assert "_skrep_version" in state, f"{name}: the state has no version stamp"
    stream = io.BytesIO()
    joblib.dump(model, stream)
    stream.seek(0)
    copies = [pickle.loads(pickle.dumps(model)), joblib.load(stream)]
    skops = require("skops.io", "check_round_trips")
    saved = skops.dumps(model)
    copies.append(skops.loads(saved, trusted=skops.get_untrusted_types(data=saved)))
    for copy in copies:
        np.testing.assert_array_equal(output(copy, X), expected)
    other = seeded(estimator)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        other.__setstate__({**state, "_skrep_version": "0.0"})
    assert any(w.category is VersionMismatchWarning for w in caught), (
        f"{name}: a state of another version is loaded without a warning"
    )
