"""SimplexClassifier: fixed places, classes to come, and what stays where it was."""

import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

from skrep.discriminant import SimplexClassifier
from skrep.geometry import simplex_vertices
from skrep.invariance import check_invariance, unclaimed
from skrep.nn._modules import build_mlp
from skrep.nn._net import seeded
from skrep.nn.losses import SimplexLoss
from tests.strategies import seeds


def rows(n=90, d=5, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, d)) + 2 * rng.normal(size=(n_classes, d))[y], y


def simplex(n_reserved=0, **params):
    params = {"max_epochs": 4, "lr": 2e-3, "hidden": (8,), "random_state": 0, **params}
    return SimplexClassifier(n_reserved, **params)


def further(seed=1, n=40, labels=(3, 4)):
    """Rows of classes to come."""
    rng = np.random.default_rng(seed)
    y = np.array(labels)[np.arange(n) % len(labels)]
    return rng.normal(size=(n, 5)) + 3 * rng.normal(size=(9, 5))[y], y


# --- what it computes ------------------------------------------------------------


@pytest.mark.parametrize("contrast", [0.0, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_a_plain_torch_loop(contrast, weighted):
    X, y = rows()
    weights = np.random.default_rng(0).uniform(0.5, 2, 90) if weighted else None
    model = simplex(2, contrast=contrast, batch_size=90).fit(X, y, weights)
    average = np.average(X, axis=0, weights=weights)
    spread = np.sqrt(np.average((X - average) ** 2, axis=0, weights=weights))
    inputs, targets = torch.tensor((X - average) / spread), torch.tensor(y)
    loss = SimplexLoss(5, contrast=contrast)
    with seeded(np.random.RandomState(0).randint(2**31 - 1), "cpu"):
        net = build_mlp(5, 4, (8,)).double()
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0)
    for epoch in range(4):
        optimizer.zero_grad()
        value = loss(
            net(inputs), targets, None if weights is None else torch.tensor(weights)
        )
        value.backward()
        optimizer.step()
        assert_allclose(model.history_[epoch]["train_loss"], value.item())
    with torch.no_grad():
        assert_allclose(model.transform(X), net(inputs), rtol=1e-6, atol=1e-9)


def test_places_are_fixed_and_probabilities_are_their_softmax():
    X, y = rows()
    model = simplex(2).fit(X, y)
    assert_array_equal(model.vertices_, simplex_vertices(5)[:3])
    Z = model.transform(X)
    assert Z.shape == (90, 4)
    expected = np.exp(Z @ model.vertices_.T)
    expected /= expected.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X), expected)
    assert_allclose(model.predict_log_proba(X), np.log(expected))
    assert_array_equal(model.predict(X), expected.argmax(axis=1))
    assert_allclose(simplex().fit(X, y).vertices_, simplex_vertices(3))


def test_features_come_to_lie_along_their_vertices():
    X, y = load_digits(return_X_y=True)
    few = y < 4
    model = SimplexClassifier(max_epochs=30, random_state=0).fit(X[few], y[few])
    Z = model.transform(X[few])
    cosines = Z @ model.vertices_.T / np.linalg.norm(Z, axis=1, keepdims=True)
    assert np.median(cosines[np.arange(len(Z)), y[few]]) > 0.9
    assert model.score(X[few], y[few]) > 0.99


@pytest.mark.parametrize("k", [2, 6])
def test_any_number_of_classes(k):
    X, y = rows(n=96, n_classes=k)
    model = simplex(hidden=(16,), max_epochs=80, lr=0.01).fit(X, y)
    assert model.transform(X).shape == (96, k - 1)
    assert model.score(X, y) > 0.8


def test_a_linear_map_over_frozen_vectors():
    X, y = rows()
    model = simplex(hidden=()).fit(X, y)
    assert [part.shape for part in model.coefs_] == [(5, 2)]
    expected = (X - X.mean(0)) / X.std(0) @ model.coefs_[0] + model.intercepts_[0]
    assert_allclose(model.transform(X), expected)


def test_contrast_counts():
    X, y = rows()
    Z = simplex(contrast=1.0).fit(X, y).transform(X)
    assert np.abs(Z - simplex().fit(X, y).transform(X)).max() > 1e-3


# --- classes to come -------------------------------------------------------------


def test_a_new_class_takes_a_free_vertex_and_others_keep_theirs():
    X, y = rows()
    model = simplex(2).fit(X, y)
    places = model.vertices_
    for label, order in ((7, [0, 1, 2, 7]), (-1, [-1, 0, 1, 2, 7])):
        new = np.full(40, label)
        model.partial_fit(further(seed=label + 2)[0], new)
        assert_array_equal(model.classes_, order)
        assert_array_equal(model.vertices_[np.isin(model.classes_, [0, 1, 2])], places)
    assert_array_equal(model.vertices_[[4, 0]], simplex_vertices(5)[3:])
    assert model.predict_proba(X).shape == (90, 5)


def test_no_vertex_left():
    X, y = rows()
    model = simplex(1).fit(X, y)
    before = model.transform(X)
    with pytest.raises(
        ValueError, match=r"2 new classes, such as 3, and 1.*n_reserved=2"
    ):
        model.partial_fit(*further())
    assert_array_equal(model.transform(X), before)
    model.partial_fit(*further(labels=(3,)))
    with pytest.raises(ValueError, match=r"Fit anew with n_reserved=2 or more"):
        model.partial_fit(*further(labels=(4,)))
    with pytest.raises(ValueError, match="n_reserved=3 or more"):
        model.partial_fit(X, y, classes=[5, 6])
    assert_array_equal(model.classes_, [0, 1, 2, 3])


def test_the_first_partial_fit_is_fit():
    X, y = rows()
    one, other = simplex(2).fit(X, y), simplex(2).partial_fit(X, y)
    assert_array_equal(one.transform(X), other.transform(X))
    one.partial_fit(*further())
    assert_array_equal(one.fit(X, y).transform(X), other.transform(X))
    assert_array_equal(one.classes_, [0, 1, 2])


def test_fit_can_be_followed_by_rows_of_known_classes():
    X, y = rows(n=180)
    model = simplex(max_epochs=20).fit(X[:30], y[:30])
    hidden = model.coefs_[0]
    before = model.score(X[90:], y[90:])
    model.partial_fit(X[30:90], y[30:90])
    assert model.coefs_[0] is hidden
    assert_array_equal(model.classes_, [0, 1, 2])
    assert model.score(X[90:], y[90:]) > before - 0.02


def test_classes_may_be_named_before_they_come():
    X, y = rows()
    model = simplex().partial_fit(X, y, classes=[0, 1, 2, 5])
    assert_array_equal(model.classes_, [0, 1, 2, 5])
    assert_array_equal(model.vertices_, simplex_vertices(4))
    assert set(model.predict(X)) <= {0, 1, 2, 5}
    alone = simplex(max_epochs=60, lr=0.01)
    alone.partial_fit(X[y == 0], y[y == 0], classes=[0, 1])
    assert_array_equal(alone.predict(X[y == 0]), 0)
    later = simplex(2).fit(X, y).partial_fit(X, y, classes=[8])
    assert_array_equal(later.classes_, [0, 1, 2, 8])


def test_the_order_of_blocks_does_not_matter():
    X, y = rows()
    X_new, y_new = further(n=60)
    weights = np.random.default_rng(0).uniform(0.5, 2, 60)
    orders = np.arange(60), np.random.default_rng(1).permutation(60)
    found = []
    for order, n_blocks in zip(orders, (1, 7), strict=True):
        model = simplex(2).fit(X, y).partial_fit(X, y, classes=[3, 4])
        for part in np.array_split(order, n_blocks):
            model.partial_fit(X_new[part], y_new[part], sample_weight=weights[part])
        found.append(model.transform(X_new))
    assert_allclose(found[0], found[1], rtol=1e-8, atol=1e-10)
    assert_array_equal(
        simplex(2).fit(X, y).partial_fit(X_new, y_new).classes_, [0, 1, 2, 3, 4]
    )


@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_later_weights_are_repetitions(seed):
    X, y = rows()
    X_new, y_new = further(seed)
    weights = np.random.default_rng(seed).integers(0, 4, 40)
    # The vertices go by the labels, of which a weight of 0 may hide one.
    weights[:2] = 1
    order = np.repeat(np.arange(40), weights)
    first = simplex(2, max_epochs=1).fit(X, y)
    one, other = pickle.dumps(first), pickle.dumps(first)
    one = pickle.loads(one).partial_fit(X_new, y_new, sample_weight=weights)
    other = pickle.loads(other).partial_fit(X_new[order], y_new[order])
    assert_allclose(one.transform(X), other.transform(X), rtol=1e-8, atol=1e-10)


def test_later_rows_of_weight_zero_are_absent():
    X, y = rows()
    X_new, y_new = further()
    weights = (y_new == 3).astype(float)
    model = simplex(1).fit(X, y).partial_fit(X_new, y_new, sample_weight=weights)
    assert_array_equal(model.classes_, [0, 1, 2, 3])


def test_class_weights_of_later_rows():
    X, y = rows()
    X_new, y_new = further()
    for given_weights, heavy in (({0: 2.0, 2: 3.0}, 1), ({3: 5.0}, 5)):
        model = simplex(2).fit(X, y)
        model.set_params(class_weight=given_weights).partial_fit(X_new, y_new)
        weights = np.where(y_new == 3, heavy, 1.0)
        plain = simplex(2).fit(X, y).partial_fit(X_new, y_new, sample_weight=weights)
        assert_allclose(model.transform(X), plain.transform(X), rtol=1e-9)


def test_compatibility():
    """Classes come without old rows, and what is stored stays comparable."""
    X, y = load_digits(return_X_y=True)
    train, test = train_test_split(
        np.arange(len(y)), test_size=0.3, stratify=y, random_state=0
    )
    stored, asked = train[y[train] < 7], test[y[test] < 7]
    model = SimplexClassifier(3, max_epochs=20, random_state=0)
    model.fit(X[stored], y[stored])
    neighbors = KNeighborsClassifier(5).fit(model.transform(X[stored]), y[stored])
    before = neighbors.score(model.transform(X[asked]), y[asked])
    assert before > 0.97
    for label in (7, 8, 9):
        new = train[y[train] == label]
        model.partial_fit(X[new], y[new])
    assert_array_equal(model.classes_, np.arange(10))
    after = neighbors.score(model.transform(X[asked]), y[asked])
    assert after > before - 0.02
    assert model.score(X[asked], y[asked]) > 0.94
    late = test[y[test] >= 7]
    assert model.score(X[late], y[late]) > 0.7
    # The places are the same for a model that was trained apart.
    other = clone(model).set_params(random_state=1).fit(X[stored], y[stored])
    assert neighbors.score(other.transform(X[asked]), y[asked]) > 0.94


# --- inputs ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_types(dtype):
    X, y = rows()
    X_new, y_new = further()
    model = simplex(2).fit(X.astype(dtype), y)
    for _ in range(2):
        held = [*model.coefs_, *model.intercepts_, model.vertices_]
        assert {part.dtype for part in held} == {np.dtype(dtype)}
        assert model.transform(X.astype(dtype)).dtype == dtype
        assert model.predict_proba(X.astype(dtype)).dtype == dtype
        # Later rows of another type change nothing of this.
        model.partial_fit(X_new, y_new)


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
def test_sparse_rows(container):
    X, y = rows()
    X_new, y_new = further()
    X[X < 0.5] = 0
    X_new[X_new < 0.5] = 0
    dense = simplex(2).fit(X, y).partial_fit(X_new, y_new)
    sparse = simplex(2).fit(container(X), y).partial_fit(container(X_new), y_new)
    assert_allclose(sparse.transform(container(X)), dense.transform(X), atol=1e-8)


def test_sparse_rows_are_dense_one_block_at_a_time():
    X = sp.random_array((65536, 200), density=0.01, format="csr", rng=0)
    y = np.arange(65536) % 2
    tracemalloc.start()
    simplex(hidden=(), max_epochs=1, batch_size=8192).fit(X, y).partial_fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.shape[0] * X.shape[1] * 8


def test_labels_of_any_kind():
    X, y = rows()
    X_new, y_new = further()
    names = np.array(["a", "b", "c", "zebra", "bee"])
    model = simplex(2).fit(X, names[y]).partial_fit(X_new, names[y_new])
    assert_array_equal(model.classes_, ["a", "b", "bee", "c", "zebra"])
    assert set(model.predict(X_new)) <= set(names)
    objects = simplex(2).fit(X, names.astype(object)[y])
    objects.partial_fit(X_new, names.astype(object)[y_new])
    assert_array_equal(objects.transform(X), model.transform(X))
    with pytest.raises(ValueError, match=r"such as 3, .* such as 'a'. .*str\(label\)"):
        simplex(2).fit(X, names[y]).partial_fit(X_new, y_new)
    with pytest.raises(ValueError, match=r"such as '0', .* such as 0. .*str\(label\)"):
        simplex(2).partial_fit(X, y, classes=["0", "1"])
    with pytest.raises(ValueError, match=r"pass classes=np.unique\(y\)"):
        simplex(2).partial_fit(X, y, classes=[0, np.nan])


def test_bad_input_is_refused():
    X, y = rows()
    with pytest.raises(ValueError, match=r"'y' has 1 class.*rows of another class"):
        simplex(2).fit(X, np.zeros(90, int))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        simplex().fit(X, X[:, 0])
    model = simplex(2).fit(X, y)
    with pytest.raises(ValueError, match=r"'X' contains.*row 3, column 1"):
        model.partial_fit(np.where(np.arange(450).reshape(90, 5) == 16, np.nan, X), y)
    with pytest.raises(ValueError, match="X has 4 features"):
        model.partial_fit(X[:, 1:], y)
    with pytest.raises(ValueError, match=r"Pass sample_weight=None"):
        model.partial_fit(X, y, sample_weight=np.zeros(90))
    for hidden in ((0,), (8.5,), ("8",)):
        with pytest.raises(ValueError, match=r"'hidden' is .*pass hidden=\(64, 64\)"):
            simplex(hidden=hidden).fit(X, y)
    with pytest.raises(ValueError, match="'n_reserved' parameter"):
        simplex(-1).fit(X, y)


def test_a_failed_fit_leaves_the_old_one():
    X, y = rows()
    model = simplex(2).fit(X, y)
    before = model.transform(X)
    with pytest.raises(ValueError, match="Valid ones are: 'module__dropout'"):
        model.set_params(module_params={"droput": 0.1}).fit(X, y)
    assert_array_equal(model.transform(X), before)


# --- seeds, pickles, and no torch ------------------------------------------------


def test_equal_seeds_are_equal_to_the_bit():
    X, y = rows()
    random = torch.get_rng_state()
    model = simplex(2, module_params={"dropout": 0.3}).fit(X, y)
    again = clone(model).fit(X, y)
    assert torch.equal(torch.get_rng_state(), random)
    assert_array_equal(model.transform(X), again.transform(X))
    assert_array_equal(
        model.partial_fit(*further()).transform(X),
        again.partial_fit(*further()).transform(X),
    )


def test_copies_learn_apart():
    X, y = rows()
    model = simplex(2).fit(X, y)
    before = model.transform(X)
    copy = pickle.loads(pickle.dumps(model)).partial_fit(*further())
    assert_array_equal(model.transform(X), before)
    assert len(copy.classes_) == 5


def test_partial_fit_needs_no_torch(tmp_path):
    X, y = rows()
    X_new, y_new = further()
    model = simplex(2).fit(X, y)
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
    np.savez(tmp_path / "rows.npz", X=X_new, y=y_new)
    code = """
import pickle, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "skorch"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import numpy as np
rows = np.load(sys.argv[1] + "/rows.npz")
model = pickle.load(open(sys.argv[1] + "/model.pickle", "rb"))
model.partial_fit(rows["X"], rows["y"])
np.save(sys.argv[1] + "/found.npy", model.transform(rows["X"]))
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    assert_allclose(
        np.load(tmp_path / "found.npy"),
        model.partial_fit(X_new, y_new).transform(X_new),
        rtol=1e-10,
    )


def test_its_layers_are_those_of_a_perceptron_of_scikit_learn():
    X, y = rows()
    model = simplex(hidden=(6, 4)).fit(X, y)
    scaled = (X - X.mean(0)) / X.std(0)
    peer = MLPClassifier((6, 4), max_iter=1, solver="sgd", learning_rate_init=1e-30)
    with pytest.warns(UserWarning, match="Maximum iterations"):
        peer.fit(scaled, y)
    # Scores for the softmax of scikit-learn are products with the vertices.
    peer.coefs_ = [*model.coefs_[:-1], model.coefs_[-1] @ model.vertices_.T]
    last = model.intercepts_[-1] @ model.vertices_.T
    peer.intercepts_ = [*model.intercepts_[:-1], last]
    assert_allclose(model.predict_proba(X), peer.predict_proba(scaled), rtol=1e-9)


# --- invariance ------------------------------------------------------------------


def test_claims_hold_and_what_is_not_claimed_is_broken():
    X, y = rows(n=48, d=4)
    model = simplex(1, batch_size=16)
    assert {claim.group for claim in model.invariances()} == {
        "translation",
        "column_scaling",
    }
    for claim in model.invariances():
        report = check_invariance(model, claim, X, y)
        assert report.holds, report
    others = {claim.group: claim for claim in unclaimed(model)}
    assert {"orthogonal", "row_scaling", "label_permutation"} <= set(others)
    for claim in others.values():
        report = check_invariance(model, claim, X, y, n_draws=4)
        assert not report.holds, report


def test_new_classes_are_drawn_to_the_weighted_mean_length_of_the_old():
    X, y = rows()
    w = np.where(y == 0, 20.0, 0.5)
    model = simplex(2, max_epochs=40, lr=0.01).fit(X, y, sample_weight=w)
    along = (model.transform(X) * model.vertices_[y]).sum(axis=1)
    length = np.average(along, weights=w)
    assert length > 1.5
    assert abs(length / along.mean() - 1) > 0.02
    # One heavy row, repeated, can be met exactly: it comes to lie where it is drawn.
    new = np.full((1, 5), 9.0)
    model.partial_fit(new, [3], sample_weight=1e9)
    assert_allclose(model.transform(new)[0], length * model.vertices_[3], rtol=1e-4)
