"""Transforms block by block equal the transform of all rows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import gen_batches

from skrep.blockwise import transform_blocks
from skrep.nested import NestedProjection

X = np.random.default_rng(0).normal(size=(90, 4))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_blocks_come_in_order_and_as_they_are_asked_for(n_jobs, tmp_path):
    model = make_pipeline(StandardScaler(), NestedProjection(2)).fit(X)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    taken = []

    def blocks():
        for part in gen_batches(len(mapped), 20):
            taken.append(part)
            yield mapped[part]

    found = transform_blocks(model, blocks(), n_jobs=n_jobs)
    first = next(found)
    assert len(taken) < 5
    assert_array_equal(np.vstack([first, *found]), model.transform(X))


def test_a_dask_array_stays_one():
    array = pytest.importorskip("dask.array")
    model = NestedProjection(3).fit(X.astype(np.float32))
    lazy = array.from_array(X.astype(np.float32), chunks=(40, 2))
    found = transform_blocks(model, lazy)
    assert found.shape == (90, 3)
    assert found.dtype == np.float32
    assert found.chunks == ((40, 40, 10), (3,))
    assert_array_equal(found.compute(), model.transform(X.astype(np.float32)))


def test_what_is_no_sequence_of_blocks_is_refused():
    with pytest.raises(NotFittedError):
        transform_blocks(NestedProjection(), [X])
    with pytest.raises(TypeError, match=r"call estimator\.transform"):
        transform_blocks(NestedProjection().fit(X), X)
