"""NestedProjection: values, lengths, sides, and every error."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skrep.linalg import GroupMoments, Moments, fix_signs, quantile_edges, slice_codes
from skrep.nested import NestedProjection
from skrep.nested._classes import class_axes
from tests.strategies import seeds

RNG = np.random.default_rng(0)
D = 6
X = RNG.standard_normal((80, D)) * [3, 2, 1.5, 1, 0.7, 0.4] + [1, 0, 5, 0, 0, 2]
Y = np.array(list("abcd"))[RNG.integers(0, 4, 80)]
X[Y == "b"] += [0, 0, 1, 1, 0, 2]
X[Y == "c"] -= [1, 0, 0, 1, 0, 0]
PAIRS = X @ np.linalg.qr(RNG.standard_normal((D, D)) * 0.1 + np.eye(D))[0]
PAIRS += 0.5 * RNG.standard_normal(X.shape) + 3
SIDES = {"y": Y, "pairs": PAIRS, "queries": PAIRS[::-2]}

OBJECTIVES = [
    "variance",
    "classes",
    "neighbors",
    "pairs",
    "mined",
    "cca",
    {"classes": 0.3, "pairs": 1},
    {"variance": 1, "neighbors": 0.5, "mined": 2},
]
each_objective = pytest.mark.parametrize("objective", OBJECTIVES, ids=str)


def fit(objective, rows=X, **params):
    return NestedProjection(objective=objective, **params).fit(rows, **SIDES)


def test_variance_is_pca():
    nested, pca = fit("variance"), PCA().fit(X)
    np.testing.assert_allclose(nested.components_, fix_signs(pca.components_))
    np.testing.assert_allclose(
        nested.objective_values_, pca.explained_variance_ * 79 / 80
    )
    np.testing.assert_allclose(np.abs(nested.transform(X)), np.abs(pca.transform(X)))


def largest_eigenvectors(A, C):
    values, vectors = np.linalg.eig(np.linalg.solve(C, A))
    order = np.argsort(values.real)[::-1]
    return values.real[order], vectors.real[:, order]


def check_pencil(nested, signal, noise, ridge):
    noise = noise / np.trace(noise) + ridge / D * np.eye(D)
    values, vectors = largest_eigenvectors(signal, noise)
    np.testing.assert_allclose(nested.objective_values_, values)
    scale = np.sqrt(np.einsum("ij,ik,kj->j", vectors, noise, vectors))
    np.testing.assert_allclose(
        nested.components_, fix_signs((vectors / scale).T), atol=1e-8
    )


def of_trace_one(S):
    return S / np.trace(S)


def covariance(rows):
    return np.cov(rows.T, bias=True)


def test_pairs_solve_their_eigenproblem():
    signal = of_trace_one(covariance(X)) + of_trace_one(covariance(PAIRS))
    check_pencil(fit("pairs"), signal, covariance(PAIRS - X), 1)
    check_pencil(fit("pairs", shrinkage=0.2), signal, covariance(PAIRS - X), 0.2)


def nearest(rows, others):
    units = [r / np.linalg.norm(r, axis=1, keepdims=True) for r in (rows, others)]
    return units[0] @ units[1].T


@pytest.mark.parametrize("n_neighbors", [1, 5])
def test_neighbors_solve_their_eigenproblem(n_neighbors):
    scores = nearest(X - X.mean(axis=0), X - X.mean(axis=0))
    np.fill_diagonal(scores, -np.inf)
    noise = np.zeros((D, D))
    for i, row in enumerate(scores):
        for j in np.argsort(-row)[:n_neighbors]:
            noise += np.outer(X[i] - X[j], X[i] - X[j])
    nested = fit("neighbors", n_neighbors=n_neighbors)
    check_pencil(nested, of_trace_one(covariance(X)), noise, 3)


def test_mined_pairs_are_mutual_nearest_rows():
    queries = SIDES["queries"]
    rows, others = X - X.mean(axis=0), queries - queries.mean(axis=0)
    scores = nearest(rows, others)
    noise = np.zeros((D, D))
    for i in range(len(rows)):
        j = scores[i].argmax()
        if scores[:, j].argmax() == i:
            noise += np.outer(others[j] - rows[i], others[j] - rows[i])
    signal = of_trace_one(covariance(X)) + of_trace_one(covariance(queries))
    check_pencil(fit("mined"), signal, noise, 1)


def test_a_mixture_is_the_principal_part_of_the_stack():
    weights = {"classes": 0.3, "pairs": 1}
    T = covariance(X)
    classes = fit("classes").components_[:3].T
    pairs = fit("pairs").components_.T
    stack = np.hstack(
        [
            w * W / np.sqrt(np.trace(W.T @ T @ W))
            for w, W in ((0.3, classes), (1, pairs))
        ]
    )
    signal = of_trace_one(T) + of_trace_one(covariance(PAIRS))
    values, vectors = np.linalg.eigh(stack.T @ signal @ stack)
    expected = (stack @ vectors[:, ::-1])[:, :D].T
    nested = fit(weights)
    np.testing.assert_allclose(nested.components_, fix_signs(expected), atol=1e-10)
    np.testing.assert_allclose(nested.objective_values_, values[::-1][:D])


def test_a_mixture_of_one_is_that_one():
    alone, mixed = fit("classes"), fit({"classes": 3.0})
    np.testing.assert_array_equal(alone.components_, mixed.components_)


def test_cca_correlates_the_two_sides():
    nested = NestedProjection(objective="cca", shrinkage=0.0).fit(X, pairs=PAIRS[:, :4])
    twin = nested.counterpart(PAIRS[:, :4])
    assert nested.components_.shape == (*twin.components_.shape[:1], D)
    Z, W = nested.transform(X), twin.transform(PAIRS[:, :4])
    correlations = np.corrcoef(Z.T, W.T)[:4, 4:]
    np.testing.assert_allclose(
        correlations, np.diag(nested.objective_values_), atol=1e-8
    )
    np.testing.assert_array_equal(twin.counterpart(X).components_, nested.components_)


@pytest.mark.parametrize("objective", ["classes", {"classes": 0.3, "variance": 1}])
def test_numbers_are_cut_into_slices(objective):
    numbers = X @ [1, -1, 0, 2, 0, 0] + 0.1 * RNG.standard_normal(len(X))
    order = np.argsort(numbers)
    slices = np.empty(len(X), dtype=int)
    slices[order] = np.arange(len(X)) * 10 // len(X)
    nested = NestedProjection(objective=objective)
    np.testing.assert_allclose(
        nested.fit(X, numbers).components_, clone(nested).fit(X, slices).components_
    )


def test_integers_may_be_classes_or_numbers():
    y = np.arange(80) // 2
    with pytest.warns(UserWarning, match='target_type="classes"'):
        numbers = NestedProjection(objective="classes").fit(X, y)
    told = NestedProjection(objective="classes", target_type="numbers").fit(X, y)
    np.testing.assert_array_equal(numbers.components_, told.components_)
    classes = NestedProjection(objective="classes", target_type="classes").fit(X, y)
    assert not np.allclose(classes.components_, told.components_)


@each_objective
@pytest.mark.parametrize("k", [1, 3])
def test_a_prefix_is_the_fit_of_that_length(objective, k):
    whole = fit(objective)
    shorter, refitted = whole.prefix(k), fit(objective, n_components=k)
    np.testing.assert_array_equal(shorter.components_, refitted.components_)
    np.testing.assert_array_equal(shorter.transform(X), refitted.transform(X))
    np.testing.assert_allclose(shorter.transform(X), whole.transform(X)[:, :k])
    assert np.shares_memory(shorter.components_, whole.components_)
    assert shorter.n_components == len(shorter.get_feature_names_out()) == k
    assert whole.n_components is None
    assert whole.components_.shape == (D, D)
    twin, short_twin = whole.counterpart(PAIRS), shorter.counterpart(PAIRS)
    np.testing.assert_allclose(
        short_twin.transform(PAIRS), twin.transform(PAIRS)[:, :k]
    )


@each_objective
@pytest.mark.parametrize("k", [1, 4, D])
def test_inverse_is_the_projection(objective, k):
    nested = fit(objective, n_components=k)
    back = nested.inverse_transform(nested.transform(X))
    Q = np.linalg.qr(nested.components_.T)[0]
    centered = X - nested.mean_
    np.testing.assert_allclose(back - nested.mean_, centered @ Q @ Q.T, atol=1e-9)
    if k == D:
        np.testing.assert_allclose(back, X, atol=1e-9)


@each_objective
@pytest.mark.parametrize("solver", ["auto", "full"])
def test_signs_do_not_depend_on_the_way(objective, solver):
    one = fit(objective, solver=solver)
    single = fit(objective, X.astype(np.float32))
    np.testing.assert_allclose(one.components_, single.components_, atol=2e-3)
    assert single.components_.dtype == single.objective_values_.dtype == np.float32
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    largest = np.argmax(np.abs(one.components_), axis=1)
    assert (one.components_[np.arange(len(largest)), largest] > 0).all()
    both = NestedProjection(objective=objective, solver=solver)
    np.testing.assert_array_equal(both.fit_transform(X, **SIDES), one.transform(X))


def test_signs_of_the_randomized_solver_and_one_more_row():
    full = fit("variance", n_components=3)
    leading = fit("variance", n_components=3, solver="randomized", random_state=0)
    np.testing.assert_allclose(leading.components_, full.components_, atol=1e-6)
    np.testing.assert_allclose(leading.objective_values_, full.objective_values_)
    more = NestedProjection(3).fit(np.vstack([X, X[:1] + 0.01]))
    assert (np.einsum("ij,ij->i", more.components_, full.components_) > 0.9).all()


def test_many_columns_cut_short_are_solved_by_products():
    wide = sp.random_array((30, 2100), density=0.01, format="csr", rng=0)
    nested = NestedProjection(4, random_state=0).fit(wide)
    assert nested._moments is None
    pca = PCA(4, svd_solver="full").fit(wide.toarray())
    np.testing.assert_allclose(
        nested.objective_values_, pca.explained_variance_ * 29 / 30, rtol=0.02
    )


@each_objective
def test_values_do_not_rise_within_a_stage(objective):
    values = fit(objective).objective_values_
    stages = np.split(values, [3]) if objective == "classes" else [values]
    for stage in stages:
        assert (np.diff(stage) <= 1e-12).all()
        assert (stage >= 0).all()


@each_objective
def test_weights_are_repeated_rows(objective):
    weights = np.arange(len(X)) % 3
    repeated = np.repeat(np.arange(len(X)), weights)
    model = NestedProjection(objective=objective, n_neighbors=4)
    one = clone(model).fit(X, **SIDES, sample_weight=weights)
    sides = {**SIDES, "y": Y[repeated], "pairs": PAIRS[repeated]}
    other = clone(model).fit(X[repeated], **sides)
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-7)
    np.testing.assert_allclose(one.mean_, other.mean_)
    shares = clone(model).fit(X, **SIDES, sample_weight=np.full(len(X), 1 / len(X)))
    even = clone(model).fit(X, **SIDES)
    np.testing.assert_allclose(shares.components_, even.components_, atol=1e-9)


def test_two_means():
    nested = fit("pairs")
    twin = nested.counterpart(PAIRS, sample_weight=np.arange(len(X)) % 2)
    np.testing.assert_allclose(twin.mean_, PAIRS[1::2].mean(axis=0))
    np.testing.assert_array_equal(twin.components_, nested.components_)
    np.testing.assert_allclose(nested.mean_, X.mean(axis=0))
    with pytest.raises(ValueError, match="expecting 6 features"):
        nested.counterpart(X[:, 1:])
    two = fit("cca")
    with pytest.raises(ValueError, match="encoder that made the pairs of fit"):
        two.counterpart(X[:, 1:])


def test_blocks_span_the_leading_columns():
    for objective in OBJECTIVES:
        if objective == "cca":
            continue
        nested = fit(objective, blocks=(2, 4))
        B = nested.components_
        np.testing.assert_allclose(B @ B.T, np.eye(D), atol=1e-12)
        for k in (2, 4):
            assert not B[:k, k:].any()
            assert not B[k:, :k].any()
        assert nested.full_length_drift_ < 1e-12


def test_drift():
    assert fit("variance").full_length_drift_ < 1e-12
    assert fit("variance", X.astype(np.float32)).full_length_drift_ < 1e-6
    assert fit("variance").prefix(3).full_length_drift_ == pytest.approx(1)
    nested = fit("pairs")
    squares = np.linalg.svd(nested.components_)[1] ** 2
    assert nested.full_length_drift_ == pytest.approx(np.abs(squares - 1).max())
    with pytest.raises(NotFittedError):
        _ = NestedProjection().full_length_drift_


@each_objective
def test_normalized_outputs_are_cosines_at_every_length(objective):
    plain, unit = fit(objective), fit(objective, normalize=True)
    for k in (1, 3, 4):
        Z = plain.prefix(k).transform(X)
        out = unit.prefix(k).transform(X)
        np.testing.assert_allclose(np.linalg.norm(out, axis=1), 1, atol=1e-6)
        np.testing.assert_allclose(
            out, Z / np.linalg.norm(Z, axis=1, keepdims=True), atol=1e-12
        )
    with pytest.raises(AttributeError) as refusal:
        unit.inverse_transform(out)
    assert "normalize=False" in str(refusal.value.__cause__)
    assert not hasattr(NestedProjection(normalize=True), "inverse_transform")


def test_a_row_at_the_mean_stays_zero():
    nested = NestedProjection(normalize=True).fit(X)
    np.testing.assert_array_equal(nested.transform(nested.mean_[None]), 0)


def test_parameters_act_at_the_next_fit():
    nested = fit("variance")
    before = nested.transform(X)
    nested.set_params(n_components=2, normalize=True)
    np.testing.assert_array_equal(nested.transform(X), before)
    assert nested.fit(X).transform(X).shape == (80, 2)


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
def test_sparse_rows_are_centered_implicitly(container):
    rows = np.where(RNG.random(X.shape) < 0.5, X, 0).astype(np.float32)
    dense, sparse = (
        NestedProjection().fit(rows),
        NestedProjection().fit(container(rows)),
    )
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-4)
    out = sparse.transform(container(rows))
    assert isinstance(out, np.ndarray)
    np.testing.assert_allclose(out, dense.transform(rows), atol=1e-3)
    with pytest.raises(TypeError, match="toarray"):
        NestedProjection(objective="classes").fit(container(rows), Y)


def test_half_floats_become_single():
    nested = NestedProjection().fit(X.astype(np.float16))
    assert nested.transform(X.astype(np.float16)).dtype == np.float32


blocks = st.lists(st.integers(1, 79), max_size=3, unique=True).map(sorted)


@pytest.mark.parametrize("objective", ["variance", "classes"])
@given(cuts=blocks, seed=seeds)
def test_partial_fit_equals_fit(objective, cuts, seed):
    order = np.random.default_rng(seed).permutation(80)
    whole = fit(objective)
    parts = np.split(order, cuts)
    streamed = NestedProjection(objective=objective)
    for part in parts:
        streamed.partial_fit(X[part], Y[part])
    np.testing.assert_allclose(streamed.components_, whole.components_, atol=1e-8)
    np.testing.assert_allclose(streamed.mean_, whole.mean_, atol=1e-10)
    fitted = [NestedProjection(objective=objective).fit(X[p], Y[p]) for p in parts]
    merged = fitted[0]
    for other in fitted[1:]:
        before = other.components_.copy()
        assert merged.merge(other) is merged
        np.testing.assert_array_equal(other.components_, before)
    np.testing.assert_allclose(merged.components_, whole.components_, atol=1e-8)


def test_slices_are_frozen_at_the_first_rows():
    numbers = X @ [1, -1, 0, 2, 0, 0]
    streamed = NestedProjection(objective="classes")
    streamed.partial_fit(X[:40], numbers[:40])
    rest = pickle.loads(pickle.dumps(streamed))
    streamed.partial_fit(X[40:], numbers[40:])
    slices = slice_codes(numbers, quantile_edges(numbers[:40], 10))
    expected = NestedProjection(objective="classes").fit(X, slices)
    np.testing.assert_allclose(streamed.components_, expected.components_)
    rest.partial_fit(X[40:60], numbers[40:60])
    with pytest.raises(ValueError, match=r"np\.digitize"):
        rest.merge(NestedProjection(objective="classes").fit(X[60:], numbers[60:]))


def test_more_rows_after_fit_and_new_classes():
    first = Y != "d"
    nested = NestedProjection(objective="classes").fit(X[first], Y[first])
    nested.partial_fit(X[~first], Y[~first])
    np.testing.assert_allclose(
        nested.components_, fit("classes").components_, atol=1e-10
    )


def test_what_cannot_be_merged():
    for objective in OBJECTIVES[2:]:
        assert not hasattr(NestedProjection(objective=objective), "partial_fit")
        assert not hasattr(NestedProjection(objective=objective), "merge")
    nested = fit("variance")
    for lost in (nested.prefix(2), nested.counterpart(PAIRS)):
        with pytest.raises(ValueError, match=r"clone\(estimator\)\.partial_fit"):
            lost.partial_fit(X)
        with pytest.raises(ValueError, match="not its prefix or counterpart"):
            fit("variance").merge(lost)
    with pytest.raises(ValueError, match="fit clones of one estimator"):
        nested.merge(fit("classes"))
    with pytest.raises(ValueError, match="on the same columns"):
        nested.merge(NestedProjection().fit(X[:, 1:]))


@pytest.mark.parametrize("k", [0, -1, 20, 2.5, True, "3"])
@each_objective
def test_lengths_that_are_none(objective, k):
    with pytest.raises(ValueError, match=r"'n_components' is .* integer from 1 to 6"):
        fit(objective, n_components=k)
    with pytest.raises(ValueError, match="integer from 1 to 6"):
        fit(objective).prefix(k)
    if objective == "variance":
        with pytest.raises(ValueError, match="integer from 1 to 6"):
            fit(objective, n_components=k, solver="randomized")


@pytest.mark.parametrize(
    ("params", "remedy"),
    [
        ({"objective": "entropy"}, "must be one of"),
        ({"objective": {}}, 'pass objective="variance"'),
        ({"objective": {"cca": 1}}, "A mixture is made of"),
        ({"objective": {"variance": 0}}, "Leave out what shall not count"),
        ({"objective": {"variance": True}}, "Leave out what shall not count"),
        ({"objective": "neighbors", "n_neighbors": 80}, "'n_neighbors' is 80.*=80"),
        ({"objective": "neighbors", "n_neighbors": 0}, "Pass fewer neighbors"),
        ({"objective": "neighbors", "n_neighbors": 1.5}, "Pass fewer neighbors"),
        ({"objective": "classes", "shrinkage": 1.5}, "share from 0 to 1"),
        ({"shrinkage": -1}, "'shrinkage' parameter of NestedProjection"),
        ({"blocks": (4, 2)}, "rising integers from 1 to 6"),
        ({"blocks": (2, 9)}, "rising integers from 1 to 6"),
        ({"blocks": (2, True)}, "rising integers from 1 to 6"),
        ({"blocks": ()}, "rising integers from 1 to 6"),
        ({"blocks": (2,), "objective": "cca"}, "blocks=None"),
        ({"solver": "randomized", "objective": "pairs"}, 'Use solver="auto"'),
        ({"solver": "randomized", "blocks": (2,)}, 'Use solver="auto"'),
        ({"normalize": "yes"}, "'normalize' parameter"),
    ],
    ids=str,
)
def test_bad_parameters(params, remedy):
    with pytest.raises(ValueError, match=remedy):
        NestedProjection(**params).fit(X, **SIDES)


@pytest.mark.parametrize(
    ("objective", "sides", "remedy"),
    [
        ("classes", {}, "Pass y with"),
        ("pairs", {}, r"set_fit_request\(pairs=True\)"),
        ("cca", {}, r"set_fit_request\(pairs=True\)"),
        ("mined", {"pairs": PAIRS}, r"set_fit_request\(queries=True\)"),
        ({"mined": 1, "pairs": 1}, {"pairs": PAIRS}, "queries=True"),
        ("pairs", {"pairs": PAIRS[:-1]}, "Select the same rows of both"),
        ("cca", {"pairs": PAIRS[:-1]}, "Select the same rows of both"),
        ("pairs", {"pairs": PAIRS[:, 1:]}, 'use objective="cca"'),
        ("mined", {"queries": PAIRS[:, 1:]}, "with one encoder"),
        ("pairs", {"pairs": PAIRS * np.nan}, "'pairs' contains NaN, first in row 0"),
        ("cca", {"pairs": np.ones((80, 2))}, "Pass rows that differ"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_missing_or_bad_sides(objective, sides, remedy):
    with pytest.raises(ValueError, match=remedy):
        NestedProjection(objective=objective).fit(X, **sides)


def test_what_leaves_an_eigenproblem_singular():
    with pytest.raises(ValueError, match='Pass shrinkage="auto"'):
        NestedProjection(objective="pairs", shrinkage=0).fit(X, pairs=X)


def test_columns_beyond_memory():
    wide = sp.csr_array((3, 40_000))
    with pytest.raises(ValueError, match=r'13 GB.*solver="randomized"'):
        NestedProjection().fit(wide)


@pytest.mark.parametrize("labels", [["a"] * 80, [f"{i}" for i in range(80)]])
def test_one_class_and_classes_of_one_row(labels):
    nested = NestedProjection(objective="classes").fit(X, labels)
    assert np.isfinite(nested.transform(X)).all()
    if labels[0] == labels[1]:
        components = nested.components_ / np.linalg.norm(
            nested.components_, axis=1, keepdims=True
        )
        np.testing.assert_allclose(components, fit("variance").components_, atol=1e-9)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("column", range(D))
def test_what_is_not_finite_is_found_after_the_product(value, column):
    nested = fit("variance", np.where(np.arange(D) == 2, 0, X))
    rows = X.copy()
    rows[7, column] = value
    with pytest.raises(ValueError, match=f"first in row 7, column {column}"):
        nested.transform(rows)
    with pytest.raises(ValueError, match=f"first in row 7, column {column}"):
        nested.transform(sp.csr_array(rows))


def test_class_axes_keep_their_lengths():
    expected = class_axes(GroupMoments.of(X, Y)).directions.T
    nested = fit("classes")
    np.testing.assert_allclose(nested.components_[:3], fix_signs(expected))


def test_residual_variance_takes_over_after_the_classes():
    nested = fit("classes")
    lengths = np.linalg.norm(nested.components_, axis=1)
    np.testing.assert_allclose(lengths[3:], lengths[3])
    deviation = nested.transform(X)[:, 3].std()
    assert deviation == pytest.approx(0.1)


def test_duplicates_are_neighbors_and_a_row_is_not():
    doubled = np.repeat(X, 2, axis=0)
    nested = NestedProjection(objective="neighbors", n_neighbors=1).fit(doubled)
    noise = np.zeros((D, D))
    noise[np.diag_indices(D)] = 3 / D
    signal = of_trace_one(covariance(X))
    np.testing.assert_allclose(
        nested.objective_values_, largest_eigenvectors(signal, noise)[0]
    )


def test_fewer_rows_than_columns():
    nested = NestedProjection().fit(X[:3])
    assert nested.full_length_drift_ < 1e-12
    np.testing.assert_allclose(nested.objective_values_[2:], 0, atol=1e-12)
    again = NestedProjection().fit(X[2::-1])
    np.testing.assert_allclose(again.transform(X), nested.transform(X), atol=1e-9)


def test_grid_search_over_lengths(tmp_path):
    pipeline = Pipeline(
        [("nested", NestedProjection()), ("clf", LogisticRegression())],
        memory=str(tmp_path),
    )
    search = GridSearchCV(pipeline, {"nested__n_components": [1, 3, 6]}, cv=3)
    search.fit(X, Y)
    for k, score in zip([1, 3, 6], search.cv_results_["mean_test_score"], strict=True):
        single = GridSearchCV(
            Pipeline([("pca", PCA(k)), ("clf", LogisticRegression())]), {}, cv=3
        )
        assert score == pytest.approx(single.fit(X, Y).best_score_)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_pairs_are_routed_and_cut_with_the_folds():
    seen = []

    class Spy(NestedProjection):
        def fit(self, X, y=None, *, pairs=None, queries=None, sample_weight=None):
            seen.append((X, pairs, queries))
            return super().fit(X, y, pairs=pairs, queries=queries)

    spy = Spy(objective="pairs").set_fit_request(pairs=True, queries=True)
    search = GridSearchCV(
        spy, {"n_components": [2]}, cv=4, scoring=lambda model, X, y=None: 0.0
    )
    search.fit(X, pairs=X + 1, queries=PAIRS[:7])
    assert len(seen) == 5
    for rows, pairs, queries in seen:
        np.testing.assert_array_equal(rows + 1, pairs)
        assert len(queries) == 7
    assert {len(rows) for rows, _, _ in seen} == {60, 80}


@pytest.mark.usefixtures("routing")
def test_pairs_go_through_a_scaler_when_told_so():
    nested = NestedProjection(objective="pairs").set_fit_request(pairs=True)
    steps = [("scale", StandardScaler()), ("nested", nested)]
    told = Pipeline(steps, transform_input=["pairs"]).fit(X, pairs=PAIRS)
    scaler = StandardScaler().fit(X)
    expected = NestedProjection(objective="pairs").fit(
        scaler.transform(X), pairs=scaler.transform(PAIRS)
    )
    np.testing.assert_allclose(told[-1].components_, expected.components_)
    untold = Pipeline(steps).fit(X, pairs=PAIRS)
    assert not np.allclose(untold[-1].components_, expected.components_)


def test_one_numpy_row_gives_what_all_rows_give():
    nested = fit("pairs")
    np.testing.assert_allclose(nested.transform(X[:1]), nested.transform(X)[:1])


def test_moments_are_not_in_a_prefix():
    nested = fit("classes")
    assert isinstance(nested._moments.total(), Moments)
    assert nested.prefix(2)._moments is None


@pytest.mark.parametrize("objective", ["variance", "classes"])
def test_any_weights_stream(objective):
    weights = np.random.default_rng(3).random(80) ** 4
    whole = NestedProjection(objective=objective).fit(X, Y, sample_weight=weights)
    streamed = NestedProjection(objective=objective)
    for part in np.split(np.arange(80), [3, 50]):
        streamed.partial_fit(X[part], Y[part], sample_weight=weights[part])
    np.testing.assert_allclose(streamed.components_, whole.components_, atol=1e-8)


def test_merging_needs_the_same_names():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    one = NestedProjection().fit(frame)
    other = NestedProjection().fit(frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="in the same order"):
        one.merge(other)


@pytest.mark.parametrize("objective", ["variance", "classes"])
def test_a_failed_step_counts_no_rows(objective):
    nested = NestedProjection(objective=objective).fit(X[:30], Y[:30])
    other = NestedProjection(20, objective=objective)
    nested.set_params(n_components=20)
    for step in (
        lambda: nested.partial_fit(X[30:], Y[30:]),
        lambda: nested.merge(other),
    ):
        other._moments = NestedProjection(objective=objective).fit(X, Y)._moments
        other.components_, other.n_features_in_, other._target = X, D, nested._target
        with pytest.raises(ValueError, match="'n_components' is 20"):
            step()
    nested.set_params(n_components=None).partial_fit(X[30:], Y[30:])
    np.testing.assert_allclose(nested.components_, fit(objective).components_)


@pytest.mark.parametrize(("first", "second"), [("variance", "classes")] * 2)
def test_another_objective_cannot_take_rows_of_this_one(first, second):
    for one, two in ((first, second), (second, first)):
        nested = fit(one).set_params(objective=two)
        with pytest.raises(ValueError, match="fitted with another 'objective'"):
            nested.partial_fit(X, Y)
        with pytest.raises(ValueError, match="Fit both as they are set now"):
            fit(two).merge(nested)


def test_absent_rows_have_no_say_in_what_y_is():
    y = np.arange(80) % 20
    y[-1] = 99
    weights = np.ones(80)
    weights[-1] = 0
    model = NestedProjection(objective="classes")
    weighted = clone(model).fit(X, y, sample_weight=weights)
    absent = clone(model).fit(X[:-1], y[:-1])
    np.testing.assert_allclose(weighted.components_, absent.components_)
    missing = y.astype(float)
    missing[-1] = np.nan
    clone(model).fit(X, missing, sample_weight=weights)
    with pytest.raises(ValueError, match="has 79 entries"):
        clone(model).fit(X, y[:-1], sample_weight=weights)


def test_labels_of_two_types_are_not_joined():
    nested = NestedProjection(objective="classes").fit(X, np.arange(80) % 3)
    strings = (np.arange(80) % 3).astype(str)
    with pytest.raises(ValueError, match="str\\(label\\) for label in y"):
        nested.partial_fit(X, strings)
    with pytest.raises(ValueError, match="str\\(label\\) for label in y"):
        nested.merge(NestedProjection(objective="classes").fit(X, strings))


def test_a_weight_is_a_number_of_neighbors():
    model = NestedProjection(objective="neighbors", n_neighbors=5)
    weighted = clone(model).fit(X[:4], sample_weight=np.full(4, 2.0))
    repeated = clone(model).fit(np.repeat(X[:4], 2, axis=0))
    np.testing.assert_allclose(
        weighted.transform(X[:4]), repeated.transform(X[:4]), atol=1e-9
    )


def test_unequal_weights_fill_the_neighborhood_from_the_nearest():
    weights = np.random.default_rng(0).choice([1e-3, 0.5, 3], 80)
    weights *= 80 / weights.sum()
    center = np.average(X, axis=0, weights=weights)
    scores = nearest(X - center, X - center)
    noise = np.zeros((D, D))
    for i, row in enumerate(scores):
        room = 5 - max(weights[i] - 1, 0)
        for j in np.argsort(-row):
            if j == i or room <= 0:
                continue
            share = min(weights[j], room)
            noise += weights[i] * share * np.outer(X[i] - X[j], X[i] - X[j])
            room -= share
    nested = NestedProjection(objective="neighbors")
    nested.fit(X, sample_weight=weights)
    T = np.cov(X.T, aweights=weights, bias=True)
    check_pencil(nested, of_trace_one(T), noise, 3)


def test_a_mixture_of_one_streams_and_takes_sparse_rows():
    sparse = sp.csr_array(X)
    nested = NestedProjection(objective={"variance": 1}).fit(sparse)
    nested.partial_fit(sparse)
    np.testing.assert_allclose(nested.components_, fit("variance").components_)


@pytest.mark.parametrize("weight", [1e-5, 1e-9])
def test_lopsided_mixtures(weight):
    mixed = fit({"classes": 1, "variance": weight})
    telling = fit("classes").components_[:3]
    T = covariance(X)
    telling = telling / np.sqrt(np.trace(telling @ T @ telling.T))
    kernel = X @ telling.T @ telling @ X.T
    ours = X @ mixed.components_.T
    np.testing.assert_allclose(ours @ ours.T, kernel, atol=1e-3 * kernel.max())


def test_coordinates_that_overflow():
    huge = np.full((1, D), 3e38, dtype=np.float32)
    nested = fit("variance", X.astype(np.float32), normalize=True)
    nested.components_ = nested.components_ * np.float32(10)
    with pytest.raises(ValueError, match=r"np\.float64"):
        nested.transform(huge)


def test_a_failed_fit_keeps_what_streams():
    nested = fit("variance")
    with pytest.raises(ValueError, match="NaN"):
        nested.fit(np.where(np.arange(D) == 2, np.nan, X))
    np.testing.assert_allclose(
        nested.partial_fit(X).components_, fit("variance").components_
    )


def test_inverse_where_axes_nearly_repeat_each_other():
    nested = fit("variance", n_components=3)
    nested.components_ = nested.components_[[0, 0, 1]]
    back = nested.inverse_transform(nested.transform(X))
    Q = fit("variance").components_[:2].T
    np.testing.assert_allclose(
        back - nested.mean_, (X - nested.mean_) @ Q @ Q.T, atol=1e-9
    )


def test_columns_of_the_other_side_are_those_of_x():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    others = pd.DataFrame(PAIRS, columns=list("abcdef"))
    turned = others[others.columns[::-1]]
    nested = NestedProjection(objective="pairs").fit(frame, pairs=others)
    np.testing.assert_array_equal(
        nested.counterpart(others).feature_names_in_, frame.columns
    )
    with pytest.raises(ValueError, match=r"pass pairs\[X.columns\]"):
        clone(nested).fit(frame, pairs=turned)
    with pytest.raises(ValueError, match=r"pass queries\[X.columns\]"):
        NestedProjection(objective="mined").fit(frame, queries=turned)
    with pytest.raises(ValueError, match="feature names"):
        nested.counterpart(turned)
    two = NestedProjection(objective="cca").fit(frame, pairs=turned.iloc[:, 1:])
    twin = two.counterpart(turned.iloc[:, 1:])
    assert list(twin.feature_names_in_) == list("edcba")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_partners_a_constant_away_differ_by_nothing(dtype):
    rows = X.astype(dtype)
    model = NestedProjection(objective="pairs")
    expected = clone(model).fit(rows, pairs=rows).components_
    for shift in (0.1, 0.2, 1.0):
        found = clone(model).fit(rows, pairs=rows + dtype(shift)).components_
        np.testing.assert_allclose(found, expected, atol=1e-3)


@each_objective
def test_numbers_whose_squares_overflow(objective):
    sides = {**SIDES, "pairs": PAIRS * 1e200, "queries": PAIRS * 1e200}
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="Divide all rows"):
        NestedProjection(objective=objective).fit(X * 1e200, **sides)
    single = (X * 1e25).astype(np.float32)
    if objective in ("variance", "classes"):
        with pytest.raises(ValueError, match="Divide all rows"):
            NestedProjection(objective=objective).fit(single, Y)


def test_blocks_of_integers_tell_when_they_have_become_many():
    y = np.arange(80) % 40
    nested = NestedProjection(objective="classes").partial_fit(X[:15], y[:15])
    with pytest.warns(UserWarning, match='target_type="classes"'):
        nested.partial_fit(X[15:], y[15:])
    told = NestedProjection(objective="classes", target_type="classes")
    told.partial_fit(X[:15], y[:15]).partial_fit(X[15:], y[15:])
    np.testing.assert_array_equal(told.components_, nested.components_)


def test_merge_asks_for_a_fitted_projection():
    with pytest.raises(ValueError, match="fitted by fit or partial_fit"):
        fit("variance").merge(3)
    with pytest.raises(ValueError, match="fitted by fit or partial_fit"):
        fit("variance").merge(NestedProjection())
