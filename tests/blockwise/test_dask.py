"""Blocks go to the workers of a dask cluster, and one may die."""

import os
import signal

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose

from skrep.blockwise import fit_blocks, transform_blocks
from skrep.index_model import SlicedInverseRegression

distributed = pytest.importorskip("distributed")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2_000, 6))
Y = np.exp(X[:, 0]) + 0.1 * RNG.normal(size=2_000)
BLOCKS = list(zip(np.array_split(X, 40), np.array_split(Y, 40), strict=True))
EDGES = np.quantile(Y, [0.2, 0.4, 0.6, 0.8])
MODEL = SlicedInverseRegression(2, slice_edges=EDGES)
WHOLE = SlicedInverseRegression(2, slice_edges=EDGES).fit(X, Y)


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(processes=True, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


class KillingBlocks:
    """Blocks that are passed over with the death of a worker half way, once."""

    def __init__(self, client):
        self.client = client
        self.killed = []

    def __iter__(self):
        for place, block in enumerate(BLOCKS):
            if not self.killed and place == 20:
                victim = next(iter(self.client.run(os.getpid).values()))
                os.kill(victim, signal.SIGKILL)
                self.killed.append(victim)
            yield block


def test_a_cluster_gives_what_one_process_gives(client):
    with parallel_config(backend="dask"):
        found = fit_blocks(MODEL, BLOCKS)
        parts = list(transform_blocks(found, [X[:50], X[50:]]))
    assert_allclose(found.components_, WHOLE.components_, rtol=1e-8, atol=1e-10)
    assert_allclose(np.vstack(parts), WHOLE.transform(X), rtol=1e-8, atol=1e-8)


def test_the_fit_survives_the_death_of_a_worker(client):
    blocks = KillingBlocks(client)
    with parallel_config(backend="dask"):
        found = fit_blocks(MODEL, blocks)
    assert len(blocks.killed) == 1
    assert blocks.killed[0] not in client.run(os.getpid).values()
    assert_allclose(found.components_, WHOLE.components_, rtol=1e-8, atol=1e-10)
