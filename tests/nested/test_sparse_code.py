"""SparseCode: what it computes, refuses and leaves alone."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from skorch.callbacks import Callback

from skrep.exceptions import FewerColumnsWarning
from skrep.invariance import check_invariance, unclaimed
from skrep.nested import NestedProjection, SparseCode


def rows(n=90, d=6, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, d)) + 2 * rng.normal(size=(n_classes, d))[y] + 4, y


def coder(n_atoms=24, n_active=4, **params):
    return SparseCode(n_atoms, n_active, **{"random_state": 0, **params})


def same(one, other, X):
    return (one.transform(X) != other.transform(X)).nnz == 0


# --- what it computes ------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_active", [1, 4, 24])
def test_codes_are_the_largest_positive_products(dtype, n_active):
    X = rows()[0].astype(dtype)
    model = coder(n_active=n_active).fit(X)
    Z = model.transform(X)
    assert isinstance(Z, sp.csr_array)
    assert Z.dtype == dtype
    assert Z.indices.dtype == Z.indptr.dtype == np.int32
    assert Z.has_sorted_indices
    for x, z in zip(X, Z.toarray(), strict=True):
        products = [
            float(a @ (x - model.mean_)) + c
            for a, c in zip(model.components_, model.intercept_, strict=True)
        ]
        kept = [j for j in np.argsort(products)[-n_active:] if products[j] > 0]
        assert_array_equal(np.flatnonzero(z), np.sort(kept))
        assert_allclose(z[kept], np.array(products)[kept], rtol=2e-4)


def test_atoms_have_norm_one_and_fitted_numbers_the_type_of_the_rows():
    X = rows()[0].astype(np.float32)
    model = coder().fit(X)
    assert_allclose(np.linalg.norm(model.components_, axis=1), 1, rtol=1e-6)
    for part in (model.components_, model.intercept_, model.mean_):
        assert part.dtype == np.float32
    assert model.components_.shape == (24, 6)
    assert model.n_iter_ == len(model.history_) == model.max_epochs
    assert model.best_loss_ is None


def test_decoding_projects_rows_onto_the_span_of_their_atoms():
    X, _ = rows()
    model = coder(n_active=3).fit(X)
    Z = model.transform(X)
    for x, z, found in zip(X, Z.toarray(), model.inverse_transform(Z), strict=True):
        D = model.components_[z > 0]
        shares = np.linalg.lstsq(D.T, x - model.mean_, rcond=None)[0]
        assert_allclose(found, model.mean_ + shares @ D, atol=1e-7)


def test_decoding_of_more_atoms_than_columns_gives_the_rows_back():
    X, y = rows()
    model = coder(n_active=24).fit(X, y)
    Z = model.transform(X)
    assert_allclose(model.inverse_transform(Z), X, atol=1e-6)
    assert_allclose(model.inverse_transform(Z.toarray()), X, atol=1e-6)
    empty = sp.csr_array((2, 24), dtype=np.float32)
    assert model.inverse_transform(empty).dtype == np.float32
    assert_allclose(model.inverse_transform(empty), [model.mean_] * 2, rtol=1e-6)


def test_with_active_is_the_prefix_of_the_order_of_products():
    X, y = rows()
    model = coder(n_active=8).fit(X, y)
    shorter = model.with_active(2)
    assert shorter is not model
    assert shorter.components_ is model.components_
    assert (shorter.n_active, model.n_active) == (2, 8)
    long, short = model.transform(X).toarray(), shorter.transform(X).toarray()
    assert (short <= long).all()
    assert_allclose(np.sort(short)[:, -2:], np.sort(long)[:, -2:], rtol=1e-12)
    assert ((short > 0).sum(axis=1) <= 2).all()
    assert same(shorter.with_active(8), model, X)
    assert clone(shorter).n_active == 2


def test_classes_bring_the_codes_of_a_class_together():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = rng.normal(size=(300, 12)) * np.r_[0.7, 0.7, np.full(10, 3.0)]
    X[:, :2] += 3 * np.eye(3)[y][:, :2]
    train, test = slice(200), slice(200, None)
    scores = {}
    for objective in ("classes", "rows"):
        model = coder(48, 8, objective=objective, max_epochs=20)
        pipe = make_pipeline(model, KNeighborsClassifier(metric="cosine"))
        scores[objective] = pipe.fit(X[train], y[train]).score(X[test], y[test])
    assert scores["classes"] > scores["rows"] + 0.15
    assert scores["classes"] > 0.85


@pytest.mark.parametrize("supervised", [True, False])
def test_training_lowers_the_loss(supervised):
    X, y = rows(n=400)
    model = coder(max_epochs=15, lr=1e-2).fit(X, y if supervised else None)
    losses = [row["train_loss"] for row in model.history_]
    assert losses[-1] < losses[0] - 0.02


def units(rows):
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def test_first_atoms_are_distinct_rows():
    X, _ = rows(n=20)
    model = coder(20, lr=1e-12, max_epochs=1).fit(np.repeat(X, 3, axis=0))
    gaps = units(X - X.mean(axis=0))
    nearest = (model.components_ @ gaps.T).argmax(axis=1)
    assert_array_equal(np.sort(nearest), np.arange(20))
    assert_allclose(model.components_, gaps[nearest], atol=1e-8)


def test_first_atoms_are_turned_to_the_axes_and_means_of_classes():
    X, y = rows(n=40)
    model = coder(40, lr=1e-12, max_epochs=1).fit(X, y)
    axes = NestedProjection(objective="classes").fit(X, y).components_[:2]
    gaps = units(X - X.mean(axis=0))
    turned = units(gaps + 3 * units(gaps @ axes.T @ axes))
    means = np.stack([X[y == c].mean(axis=0) for c in range(3)]) - X.mean(axis=0)
    turned = units(turned + units(means @ axes.T @ axes)[y] / 2)
    nearest = (model.components_ @ turned.T).argmax(axis=1)
    assert_array_equal(np.sort(nearest), np.arange(40))
    assert_allclose(model.components_, turned[nearest], atol=1e-8)


def test_wide_rows_are_first_atoms_as_they_are():
    X = np.random.default_rng(0).normal(size=(12, 2001))
    gaps = units(X - X.mean(axis=0))
    for y in (None, np.arange(12) % 2):
        model = coder(12, lr=1e-12, max_epochs=1).fit(X, y)
        nearest = (model.components_ @ gaps.T).argmax(axis=1)
        assert_allclose(model.components_, gaps[nearest], atol=1e-8)


# --- dead atoms ------------------------------------------------------------------


def test_dead_atoms_are_reported():
    X, _ = rows(n=30)
    with pytest.warns(FewerColumnsWarning, match=r"n_atoms=\d+, or more rows"):
        model = coder(300, 2).fit(X)
    used = np.unique(model.transform(X).indices)
    assert_array_equal(np.sort(np.r_[used, model.dead_atoms_]), np.arange(300))
    assert len(model.dead_atoms_) > 150


# --- y ---------------------------------------------------------------------------


def test_objective_says_whether_y_counts():
    X, y = rows()
    plain = coder().fit(X)
    assert same(plain, coder(objective="rows").fit(X, y), X)
    assert same(plain, coder().fit(X, X[:, 0]), X)
    told = coder().fit(X, y)
    assert not same(plain, told, X)
    for labels in (np.array(["c", "a", "b"])[y], y == 1):
        assert not same(plain, coder().fit(X, labels), X)
    assert same(told, coder().fit(X, np.array(["c", "a", "b"])[y]), X)
    many = np.arange(90) // 2
    with pytest.warns(UserWarning, match='objective="classes" or objective="rows"'):
        assert same(plain, coder().fit(X, many), X)
    assert not same(plain, coder(objective="classes").fit(X, many), X)


def test_classes_are_needed_for_the_objective_classes():
    X, _ = rows()
    model = coder(objective="classes")
    with pytest.raises(ValueError, match="Pass y with one class"):
        model.fit(X)
    with pytest.raises(ValueError, match=r"np\.digitize"):
        model.fit(X, X[:, 0])
    with pytest.raises(ValueError, match="one per row"):
        coder().fit(X, [0, 1])
    with pytest.raises(ValueError, match="drop such rows"):
        coder().fit(X, ["a", None, *"b" * 88])


def test_one_class_and_classes_of_one_row_are_served():
    X, _ = rows(n=20)
    for y in (np.zeros(20, int), np.arange(20)):
        model = coder(12, objective="classes").fit(X, y)
        assert np.isfinite(model.components_).all()


# --- bad input -------------------------------------------------------------------


@pytest.mark.parametrize("n_active", [25, 0, -1])
def test_more_active_atoms_than_atoms_are_refused(n_active):
    X, _ = rows()
    model = coder().fit(X)
    with pytest.raises(ValueError, match="n_active=24, say"):
        model.with_active(n_active)
    with pytest.raises(ValueError, match="n_active"):
        coder(n_active=n_active).fit(X)


def test_active_atoms_are_counted_in_whole_numbers():
    X, _ = rows()
    model = coder().fit(X)
    for bad in (2.0, True, "all"):
        with pytest.raises(ValueError, match=r"with_active: 'n_active' is .*integer"):
            model.with_active(bad)
    with pytest.raises(ValueError, match="n_active=24, say"):
        coder(n_active=True).fit(X)


def test_equal_rows_and_huge_numbers_are_refused():
    X, _ = rows()
    with pytest.raises(ValueError, match="Pass columns that vary"):
        coder().fit(np.ones((5, 3)))
    with pytest.raises(ValueError, match="Divide all rows by one number"):
        coder().fit(X * 1e160)
    model = coder().fit(X)
    largest = np.finfo(np.float64).max * np.sign(model.components_[:1])
    for huge in (largest, np.tile([[1.0, -1.0]], 3) * largest[0, 0]):
        with pytest.raises(ValueError, match="Divide all rows by one number"):
            model.transform(huge)
    with pytest.raises(ValueError, match="SimpleImputer"):
        coder().fit(np.where(X > 5, np.nan, X))


def test_codes_of_another_width_or_not_finite_are_refused():
    X, _ = rows()
    model = coder().fit(X)
    Z = model.transform(X)
    for narrow in (Z[:, 1:], Z.toarray()[:, 1:]):
        with pytest.raises(ValueError, match="Pass the output of transform"):
            model.inverse_transform(narrow)
    Z.data[3] = np.nan
    with pytest.raises(ValueError, match=r"SparseCode.inverse_transform: .*NaN"):
        model.inverse_transform(Z)


def test_a_fit_that_fails_leaves_the_estimator_as_it_was():
    X, y = rows()

    class Interrupted(Callback):
        def on_batch_end(self, net, **_):
            raise KeyboardInterrupt

    model = coder(callbacks=[Interrupted()])
    before = copy.copy(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert vars(model) == before
    model.set_params(callbacks=None).fit(X)
    old = model.components_
    model.set_params(lr=1e300)
    with pytest.raises(ValueError, match="lower 'lr'"):
        model.fit(X)
    assert model.components_ is old


def test_batches_larger_than_the_rows_and_of_one_row():
    X, y = rows(n=40)
    for size in (1, 7, 1000):
        for target in (y, None):
            model = coder(12, batch_size=size, max_epochs=2).fit(X, target)
            assert np.isfinite(model.components_).all()
    assert same(coder(batch_size=1000).fit(X), coder(batch_size=40).fit(X), X)


def test_a_device_that_is_not_there_and_unknown_options_are_refused():
    X, _ = rows()
    with pytest.raises(ValueError, match='device="cpu"'):
        coder(device="cuda:99").fit(X)
    with pytest.raises(ValueError, match="Valid ones are: 'optimizer__amsgrad'"):
        coder().set_params(optimizer__beta=1)
    model = coder(optimizer_params={"eps": 1e-8}).set_params(
        optimizer__betas=(0.8, 0.9)
    )
    assert model.get_params()["optimizer__betas"] == (0.8, 0.9)
    assert not same(model.fit(X), coder().fit(X), X)


def test_torch_is_named_where_it_is_missing(monkeypatch):
    X, _ = rows()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"SparseCode.fit needs .*pip install"):
        coder().fit(X)


# --- containers, weights, seeds ----------------------------------------------------


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("supervised", [True, False])
def test_sparse_rows_give_what_dense_ones_give(container, supervised):
    X, y = rows()
    X[np.random.default_rng(1).random(X.shape) < 0.5] = 0
    target = y if supervised else None
    dense, sparse = coder().fit(X, target), coder().fit(container(X), target)
    assert_allclose(sparse.components_, dense.components_, atol=1e-9)
    assert_allclose(
        sparse.transform(container(X)).toarray(), dense.transform(X).toarray()
    )


@pytest.mark.parametrize("supervised", [True, False])
def test_weights_are_repeated_rows_within_a_batch(supervised):
    X, y = rows()
    weights = np.random.default_rng(2).integers(0, 3, size=len(X))
    again = np.repeat(np.arange(len(X)), weights)
    one = coder().fit(X, y if supervised else None, sample_weight=weights)
    two = coder().fit(X[again], y[again] if supervised else None)
    assert_allclose(one.components_, two.components_, atol=1e-9)
    assert_allclose(one.intercept_, two.intercept_, atol=1e-9)
    assert_allclose(one.mean_, two.mean_, atol=1e-9)
    order = np.random.default_rng(3).permutation(len(X))
    moved = coder().fit(X[order], y[order] if supervised else None)
    still = coder().fit(X, y if supervised else None)
    assert_allclose(moved.components_, still.components_, atol=1e-9)
    ones = coder().fit(X, y if supervised else None, sample_weight=np.full(90, 1.0))
    assert same(ones, still, X)


def test_a_seed_repeats_a_fit_and_global_states_stay():
    X, y = rows(n=600)
    numpy_state = np.random.get_state()[1].copy()  # noqa: NPY002
    torch_state = torch.get_rng_state()
    one, two = coder(batch_size=64).fit(X, y), coder(batch_size=64).fit(X, y)
    assert_array_equal(one.components_, two.components_)
    assert_array_equal(one.intercept_, two.intercept_)
    assert_array_equal(np.random.get_state()[1], numpy_state)  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), torch_state)
    other = coder(batch_size=64, random_state=1).fit(X, y)
    assert not same(one, other, X)


def test_rows_held_out_decide_when_to_stop():
    X, y = rows(n=200)
    model = coder(validation_fraction=0.25, max_epochs=60, lr=0.1, n_active=8).fit(X, y)
    told = [row["valid_loss"] for row in model.history_]
    assert model.best_loss_ == min(told)
    assert model.n_iter_ < 60
    with pytest.raises(ValueError, match="validation_fraction=None"):
        coder(objective="classes", validation_fraction=0.1).fit(X[:10], np.arange(10))


# --- with the tools of scikit-learn --------------------------------------------------


def test_codes_serve_linear_models_neighbors_and_grids():
    X, y = rows(n=150)
    train, test = slice(100), slice(100, None)
    for head in (
        LogisticRegression(),
        SGDClassifier(random_state=0),
        KNeighborsClassifier(metric="cosine"),
    ):
        pipe = make_pipeline(coder(), head).fit(X[train], y[train])
        assert pipe.score(X[test], y[test]) > 0.8
    Z = coder().fit(X).transform(X)
    found = NearestNeighbors(n_neighbors=1, metric="cosine").fit(Z).kneighbors(Z)[0]
    assert_allclose(found, 0, atol=1e-7)
    grid = GridSearchCV(
        make_pipeline(coder(), LogisticRegression()),
        {"sparsecode__n_active": [2, 4], "sparsecode__optimizer__eps": [1e-8]},
        cv=2,
    ).fit(X, y)
    assert grid.best_score_ > 0.8


def test_names_of_columns():
    X, _ = rows()
    model = coder(3, 2).fit(X)
    assert list(model.get_feature_names_out()) == [f"sparsecode{j}" for j in range(3)]


def test_frames_fail_as_those_of_scikit_learn_on_sparse_output():
    X, _ = rows()
    model = coder().set_output(transform="pandas").fit(X)
    with pytest.raises(ValueError, match="outputs a scipy sparse matrix"):
        model.transform(X)


def test_what_was_fitted_needs_no_torch():
    X, y = rows()
    model = coder().fit(X, y)
    code = (
        "import sys, pickle; model, X = pickle.load(sys.stdin.buffer);"
        "from sklearn.base import clone; repr(clone(model)); model.get_params();"
        "Z = model.with_active(2).transform(X); model.inverse_transform(Z);"
        "assert not {'torch', 'skorch'} & set(sys.modules);"
        "sys.stdout.buffer.write(pickle.dumps(Z.toarray()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps((model, X)),
        capture_output=True,
        check=True,
    )
    expected = model.with_active(2).transform(X).toarray()
    assert_array_equal(pickle.loads(done.stdout), expected)


# --- claims ------------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["classes", "rows"])
def test_what_is_claimed_holds_and_what_is_not_is_broken(objective):
    X, y = rows(n=60, d=5)
    model = coder(16, objective=objective, batch_size=16, max_epochs=2)
    for claim in model.invariances():
        report = check_invariance(model, claim, X, y, n_draws=1)
        assert report.holds, report
    for claim in unclaimed(model):
        report = check_invariance(model, claim, X, y, n_draws=2)
        assert not report.holds, report
