import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from skrep.datasets import load_mammals
from skrep.exceptions import ThinDataWarning
from skrep.geometry import hyperboloid, poincare
from skrep.graph import primary_parents, relations_from_edges
from skrep.hyperbolic import PoincareEmbedding
from skrep.hyperbolic._layout import tree_layout
from skrep.hyperbolic._start import first_points
from skrep.metrics import reconstruction_scores


def given(n_components=2, **parameters):
    parameters = {"random_state": 0, **parameters}
    return PoincareEmbedding(n_components, affinity="precomputed", **parameters)


def binary_tree(depth=4):
    """Relate every node of a full binary tree to all its ancestors."""
    nodes = range(1, 2**depth - 1)
    return relations_from_edges([(i, (i - 1) // 2) for i in nodes]).matrix


@pytest.fixture(scope="module")
def mammals():
    names, edges = load_mammals().names, load_mammals().edges
    return relations_from_edges([(names[c], names[p]) for c, p in edges]).matrix


def test_mammals_are_told_in_five_columns(mammals):
    embedding = given(5).fit(mammals)
    scores = reconstruction_scores(embedding.embedding_, mammals)
    assert scores.mean_rank <= 1.5
    assert scores.map >= 0.935
    assert embedding.n_iter_ == len(embedding.loss_curve_) == 60
    assert embedding.loss_curve_[-1] < embedding.loss_curve_[0] / 10


def test_a_tree_start_tells_the_mammals_in_the_plane(mammals):
    scores = reconstruction_scores(
        given(2, init="tree").fit_transform(mammals), mammals
    )
    assert scores.mean_rank <= 1.35
    assert scores.map >= 0.92


def test_euclidean_space_has_less_room(mammals):
    points = given(5, model="euclidean").fit_transform(mammals)
    scores = reconstruction_scores(points, mammals, metric="euclidean")
    assert 0.1 < scores.map < 0.5


def test_ancestors_lie_nearer_to_the_center(mammals):
    embedding = given(5).fit(mammals)
    radii = np.linalg.norm(embedding.embedding_, axis=1)
    pairs = mammals.tocoo()
    assert np.mean(radii[pairs.col] < radii[pairs.row]) > 0.95


def test_one_seed_one_result():
    tree = binary_tree()
    first, second = given().fit_transform(tree), given().fit_transform(tree)
    np.testing.assert_array_equal(first, second)
    other = given(random_state=1).fit_transform(tree)
    assert np.abs(other - first).max() > 1e-3


def test_the_order_of_entries_does_not_matter():
    tree = binary_tree()
    entries = tree.tocoo()
    order = np.random.default_rng(0).permutation(entries.nnz)
    shuffled = sp.coo_array(
        (entries.data[order], (entries.row[order], entries.col[order])), tree.shape
    )
    reference = given().fit_transform(tree)
    for other in (shuffled, sp.csr_matrix(tree), tree.toarray()):
        np.testing.assert_array_equal(given().fit_transform(other), reference)


def test_repeated_pairs_are_summed():
    tree = binary_tree()
    entries = tree.tocoo()
    first = entries.row[0], entries.col[0]
    twice = sp.coo_array(
        (
            np.append(entries.data, 1.0),
            (np.append(entries.row, first[0]), np.append(entries.col, first[1])),
        ),
        tree.shape,
    )
    weighted = tree.copy()
    weighted[first] = 2
    np.testing.assert_array_equal(
        given().fit_transform(twice), given().fit_transform(weighted)
    )
    assert not np.array_equal(
        given().fit_transform(weighted), given().fit_transform(tree)
    )


def test_weights_count_up_to_a_factor():
    tree = binary_tree()
    tree.data = np.arange(1.0, tree.nnz + 1)
    np.testing.assert_array_equal(
        given().fit_transform(tree * 4), given().fit_transform(tree)
    )


def test_only_a_random_start_is_burnt_in():
    tree = binary_tree()
    short, long = (
        given(init="tree", burn_in=n, max_epochs=30).fit_transform(tree)
        for n in (0, 20)
    )
    np.testing.assert_array_equal(short, long)
    assert not np.array_equal(
        given(burn_in=0).fit_transform(tree), given(burn_in=20).fit_transform(tree)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rate", [1.0, 10.0, 100.0])
def test_large_rates_stay_inside(dtype, rate):
    tree = binary_tree(7).astype(dtype)
    embedding = given(2, learning_rate=rate, max_epochs=200, radius_cap=9.0)
    with pytest.warns(ConvergenceWarning, match="% of the points .* lower ") as caught:
        points = embedding.fit_transform(tree)
    assert len(caught) == 1
    assert points.dtype == dtype
    assert np.isfinite(points).all()
    assert np.linalg.norm(points, axis=1).max() < 1
    assert np.isfinite(embedding.loss_curve_).all()


def test_radius_cap():
    tree = binary_tree()
    message = r"'radius_cap'=0\.5\. Pass a larger radius_cap, such as 21\.6, or lower"
    with pytest.warns(ConvergenceWarning, match=message):
        points = given(radius_cap=0.5).fit_transform(tree)
    radii = poincare.distance(points, np.zeros(2))
    assert radii.max() == pytest.approx(0.5)
    with pytest.raises(ValueError, match=r"'radius_cap' is 40.* Pass radius_cap=21.6"):
        given(radius_cap=40.0).fit(tree)
    with pytest.raises(ValueError, match=r"'radius_cap' is 20.* Pass radius_cap=9.57"):
        given(radius_cap=20.0).fit(tree.astype(np.float32))


def test_hub_uses_the_negatives_there_are():
    n = 3000
    star = sp.csr_array(
        (np.ones(n), (np.zeros(n, int), np.arange(1, n + 1))), (n + 1, n + 1)
    )
    star = star + sp.csr_array(([1.0], ([1], [2])), star.shape)
    points = given(max_epochs=3).fit_transform(star)
    assert np.isfinite(points).all()


def test_where_there_are_no_negatives_nothing_is_trained():
    hub = np.zeros((5, 5))
    hub[0, 1:] = 1
    cases = [
        (1 - np.eye(4), "Pass relations of fewer pairs"),
        ([[0, 1], [0, 0]], "Pass more than two nodes"),
        (hub, "Pass X.T, if rows are to be those of children"),
    ]
    for X, remedy in cases:
        with pytest.warns(
            ThinDataWarning, match=f"none as negatives.*{remedy}"
        ) as seen:
            embedding = given(max_epochs=3).fit(X)
        assert len(seen) == 1
        np.testing.assert_array_equal(embedding.loss_curve_, 0)
        assert np.abs(embedding.embedding_).max() <= 1e-3
    assert given(max_epochs=3).fit(hub.T).loss_curve_[0] > 0
    with pytest.warns(ThinDataWarning, match="Pass n_neighbors=2, or more rows"):
        PoincareEmbedding(2, n_neighbors=3, max_epochs=3).fit(np.eye(4))
    PoincareEmbedding(2, n_neighbors=2, max_epochs=3).fit(np.eye(4))


@pytest.mark.parametrize("model", ["poincare", "euclidean"])
@pytest.mark.parametrize("place", [0.0, 0.1])
def test_equal_points_to_start_from_have_one_line_at_most(model, place):
    tree = binary_tree()
    init = np.full((tree.shape[0], 2), place)
    estimator = given(init=init, model=model, max_epochs=30)
    with pytest.warns(UserWarning, match=r"15 equal points.*init='random', or init \+"):
        stuck = estimator.fit(tree)
    assert np.linalg.matrix_rank(stuck.embedding_, tol=1e-9) == (place > 0)
    init = init + np.random.default_rng(0).normal(0, 1e-3, init.shape)
    apart = given(init=init, model=model, max_epochs=30).fit(tree)
    assert apart.loss_curve_[-1] < 0.8 * stuck.loss_curve_[-1]


def test_sparse_rows_are_features_only_if_they_are_not_square():
    tree = binary_tree()
    with pytest.raises(
        TypeError, match=r"sparse and square.*affinity='precomputed'\.$"
    ):
        PoincareEmbedding().fit(tree)
    with pytest.raises(TypeError, match=r"PoincareEmbedding: .*toarray"):
        PoincareEmbedding().fit(tree[:9])


def test_asymmetric_relations_are_of_rows_to_columns():
    """Siblings are no relations, and the parent is nobody's child."""
    relations = relations_from_edges(dict.fromkeys(range(1, 8), 0)).matrix
    points = given().fit_transform(relations)
    radii = np.linalg.norm(points, axis=1)
    assert radii.argmin() == 0


def test_training_goes_on():
    tree = binary_tree()
    first = given(max_epochs=20).fit(tree)
    further = given(max_epochs=20, init=first.embedding_).fit(tree)
    assert further.loss_curve_[0] < first.loss_curve_[5]
    still = given(max_epochs=1, init=first.embedding_, learning_rate=1e-12)
    np.testing.assert_allclose(still.fit(tree).embedding_, first.embedding_, atol=1e-9)


def test_coordinates():
    tree = binary_tree()
    ball = given().fit(tree)
    for coordinates, function in (
        ("lorentz", poincare.to_hyperboloid),
        ("tangent", poincare.log_map_origin),
    ):
        other = given(coordinates=coordinates)
        points = other.fit_transform(tree)
        np.testing.assert_array_equal(other.embedding_, ball.embedding_)
        np.testing.assert_array_equal(points, function(ball.embedding_))
        assert len(other.get_feature_names_out()) == points.shape[1]
        new = other.transform(tree[-2:])
        np.testing.assert_array_equal(new, function(ball.transform(tree[-2:])))
    lorentz = given(coordinates="lorentz").fit_transform(tree)
    np.testing.assert_allclose(hyperboloid.inner(lorentz, lorentz), -1, atol=1e-3)


def test_euclidean_points_have_no_other_coordinates():
    with pytest.raises(ValueError, match="Pass coordinates='ball'"):
        given(model="euclidean", coordinates="tangent").fit(binary_tree())


def test_tree_start_that_runs_in_circles():
    circle = sp.csr_array(np.roll(np.eye(12), 1, axis=1))
    with pytest.warns(UserWarning, match="run in circles.*Pass init='random'"):
        points = given(init="tree").fit_transform(circle)
    np.testing.assert_array_equal(points, given().fit_transform(circle))
    with pytest.raises(ValueError, match="Pass n_components=2"):
        given(1, init="tree").fit(binary_tree())


def test_given_start_is_checked():
    tree = binary_tree()
    n = tree.shape[0]
    with pytest.raises(ValueError, match=r"'init' has the shape \(3, 2\)"):
        given(init=np.zeros((3, 2))).fit(tree)
    points = np.zeros((n, 2))
    points[4] = [0.8, 0.7]
    with pytest.raises(ValueError, match=r"norm 1.06\d* in row 4.*project\(init\)"):
        given(init=points).fit(tree)
    given(init=points * 10, model="euclidean", max_epochs=1).fit(tree)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, np.ndarray.tolist])
def test_bad_relations(kind):
    with pytest.raises(ValueError, match="affinity='nearest_neighbors'"):
        given().fit(kind(np.ones((3, 4))))
    bad = np.ones((3, 3)) - np.eye(3)
    bad[1, 2] = -2
    with pytest.raises(ValueError, match=r"'X' is -2 in row 1, column 2.*Pass abs"):
        given().fit(kind(bad))
    bad[1, 2] = np.nan
    with pytest.raises(
        ValueError, match=r"NaN, first in row 1, .* if there is no edge"
    ):
        given().fit(kind(bad))
    with pytest.raises(ValueError, match="relates no two nodes"):
        given().fit(kind(np.zeros((3, 3))))


def test_relations_to_oneself_are_dropped():
    tree = binary_tree()
    looped = tree + sp.eye_array(tree.shape[0], format="csr")
    before = looped.copy()
    with pytest.warns(UserWarning, match="relates 15 nodes to themselves"):
        points = given().fit_transform(looped)
    np.testing.assert_array_equal(points, given().fit_transform(tree))
    assert (looped != before).nnz == 0


def test_pickle_holds_no_matrix_of_all_pairs(mammals):
    embedding = given(max_epochs=1).fit(mammals)
    assert len(pickle.dumps(embedding)) < 10 * embedding.embedding_.nbytes


def test_repeated_rows_are_one_node():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 3))
    repeated = np.vstack([rows, rows[:10]])
    alone = PoincareEmbedding(2, random_state=0).fit(rows)
    points = PoincareEmbedding(2, random_state=0).fit_transform(repeated)
    np.testing.assert_array_equal(points[:30], alone.embedding_)
    np.testing.assert_array_equal(points[30:], points[:10])


def test_too_few_distinct_rows():
    with pytest.raises(ValueError, match=r"only 4 distinct rows.*pass n_neighbors=2"):
        PoincareEmbedding().fit(np.repeat(np.eye(4), 3, axis=0))
    with pytest.raises(ValueError, match="rows that differ"):
        PoincareEmbedding().fit(np.ones((9, 2)))


def features(n=60, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 4))


def test_rows_far_from_the_origin_have_their_neighbors():
    X = np.round(features() * 1024) / 1024
    embedding = PoincareEmbedding(2, random_state=0, max_epochs=3)
    near, far = embedding.fit_transform(X), embedding.fit_transform(X + 2.0**28)
    np.testing.assert_array_equal(far, near)
    np.testing.assert_array_equal(embedding.transform(X + 2.0**28), far)


def test_a_row_of_negative_zeros_is_a_row_of_zeros():
    X = np.vstack([np.zeros(4), features()])
    embedding = PoincareEmbedding(2, random_state=0, max_epochs=2).fit(X)
    np.testing.assert_array_equal(
        embedding.transform(-X[:1])[0], embedding.embedding_[0]
    )


def test_the_points_of_repeated_rows_are_a_start():
    X = np.vstack([features(), features()[:5]])
    first = PoincareEmbedding(2, random_state=0, max_epochs=2).fit(X)
    rate = {"random_state": 0, "max_epochs": 1, "learning_rate": 1e-12}
    for init in (first.embedding_, first._points):
        again = PoincareEmbedding(2, init=init, **rate).fit(X)
        np.testing.assert_allclose(again.embedding_, first.embedding_, atol=1e-9)


def test_a_refit_on_relations_forgets_the_rows():
    embedding = PoincareEmbedding(2, random_state=0, max_epochs=1).fit(features())
    embedding.set_params(affinity="precomputed").fit(binary_tree())
    assert embedding._rows is None


def test_the_output_is_no_part_of_the_model():
    embedding = given(max_epochs=2)
    Z = embedding.fit_transform(binary_tree())
    before = embedding.transform(np.eye(15)[:3])
    Z *= 10
    np.testing.assert_array_equal(embedding.transform(np.eye(15)[:3]), before)


def test_names_follow_the_coordinates_set_later():
    embedding = given(max_epochs=2).fit(binary_tree())
    embedding.set_params(coordinates="lorentz")
    assert len(embedding.get_feature_names_out()) == 3
    assert embedding.transform(np.eye(15)[:1]).shape == (1, 3)


@pytest.mark.parametrize(("dtype", "weight"), [("float64", 1e308), ("float32", 3e37)])
def test_large_weights_count_up_to_a_factor(dtype, weight):
    tree = binary_tree(3).astype(dtype)
    plain, large = given(max_epochs=3), given(max_epochs=3)
    points = plain.fit_transform(tree)
    scaled = large.fit_transform(tree * np.dtype(dtype).type(weight))
    np.testing.assert_array_equal(scaled, points)
    query = np.ones((1, 7), dtype)
    np.testing.assert_allclose(
        large.transform(query * np.dtype(dtype).type(weight)), plain.transform(query)
    )


def test_a_radius_cap_of_the_euclidean_model_is_refused():
    with pytest.raises(ValueError, match=r"anywhere\. Pass radius_cap=None\."):
        given(model="euclidean", radius_cap=3.0).fit(binary_tree())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("asked", ["float32", "float64"])
def test_points_of_new_rows_have_the_type_of_these(dtype, asked):
    embedding = PoincareEmbedding(2, random_state=0, max_epochs=2)
    embedding.fit(features().astype(dtype))
    placed = embedding.transform(features(5, 1).astype(asked))
    assert placed.dtype == asked
    assert (np.linalg.norm(placed, axis=1) < 1).all()


def test_a_euclidean_tree_starts_as_far_out_as_in_the_ball():
    parents = sp.csr_array(binary_tree())
    rng = np.random.default_rng(0)
    rho, _ = tree_layout(primary_parents(parents))
    flat, ball, held = (
        first_points("who", "tree", parents, 2, rng, model=model, radius_cap=cap)
        for model, cap in (("euclidean", 9.6), ("poincare", 9.6), ("poincare", 1.0))
    )
    np.testing.assert_allclose(np.linalg.norm(flat, axis=1), rho, atol=1e-12)
    np.testing.assert_allclose(poincare.to_polar(ball)[0], rho, atol=1e-12)
    np.testing.assert_allclose(
        poincare.to_polar(held)[0], np.minimum(rho, 1), atol=1e-12
    )
    given(init="tree", model="euclidean", max_epochs=2).fit(parents)
