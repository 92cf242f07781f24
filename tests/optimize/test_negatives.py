import numpy as np

from skrep.optimize import NegativeSampler


def test_bars_relations_and_the_node_itself():
    rows, columns = np.array([0, 0, 1]), np.array([1, 2, 0])
    sampler = NegativeSampler(rows, columns, n_nodes=4)
    nodes = np.array([0, 1, 2, 3])
    drawn, barred = sampler.draw(np.random.default_rng(0), nodes, 500)
    allowed = [set(drawn[~barred[:, i], i]) for i in range(4)]
    assert allowed == [{3}, {2, 3}, {0, 1, 3}, {0, 1, 2}]


def test_uniform_draws():
    sampler = NegativeSampler(np.zeros(50, int), np.ones(50, int), n_nodes=5)
    drawn, _ = sampler.draw(np.random.default_rng(0), np.zeros(1000, int), 20)
    np.testing.assert_allclose(np.bincount(drawn.ravel()) / 20_000, 0.2, atol=0.01)


def test_frequent_draws_follow_one_plus_the_count():
    columns = np.repeat([1, 3], [4, 11])
    sampler = NegativeSampler(np.zeros(15, int), columns, n_nodes=5)
    drawn, _ = sampler.draw(
        np.random.default_rng(0), np.zeros(1000, int), 20, frequent=True
    )
    expected = np.array([1, 5, 1, 12, 1]) / 20
    np.testing.assert_allclose(np.bincount(drawn.ravel()) / 20_000, expected, atol=0.01)


def test_a_hub_takes_as_many_draws_as_others():
    n = 3000
    sampler = NegativeSampler(np.zeros(n - 1, int), np.arange(1, n), n_nodes=n)
    drawn, barred = sampler.draw(np.random.default_rng(0), np.zeros(7, int), 10)
    assert drawn.shape == barred.shape == (10, 7)
    assert barred.all()
