"""Promises about memory and persistence."""

import io
import pickle
import tracemalloc
import warnings
from typing import Any

import joblib
import numpy as np

from skrep.exceptions import VersionMismatchWarning
from skrep.utils._optional import require
from skrep.utils.estimator_checks._data import fitted, make_rows, output, seeded

__all__ = ["check_memory", "check_pickle_holds_the_model", "check_round_trips"]


def check_memory(name: str, estimator: Any) -> None:
    """Transform peaks under twice its input beyond its output."""
    X = make_rows(20_000, 96).astype(np.float32)
    model = fitted(estimator, X[:500])
    model.transform(X[:10])
    tracemalloc.start()
    try:
        out = model.transform(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    size = out.nbytes if hasattr(out, "nbytes") else 3 * out.data.nbytes
    assert peak - size <= 2 * X.nbytes, (
        f"{name}: transform of {X.nbytes / 1e6:.0f} MB peaked {peak / 1e6:.0f} MB"
    )


def check_pickle_holds_the_model(name: str, estimator: Any) -> None:
    """A pickle holds the model, not the data."""
    sizes = [
        len(pickle.dumps(fitted(estimator, make_rows(n, 12)))) for n in (500, 2000)
    ]
    assert sizes[1] <= 1.1 * sizes[0], (
        f"{name}: the pickle grows with the rows, from {sizes[0]} to {sizes[1]} bytes"
    )


def check_round_trips(name: str, estimator: Any) -> None:
    """Pickle, joblib and skops give the model back; another version is announced."""
    X = make_rows()
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
