"""DiscriminantEncoder: what it computes, refuses and leaves alone."""

import copy
import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from skorch.callbacks import Callback, EarlyStopping

from skrep.discriminant import DiscriminantEncoder, SimplexClassifier
from skrep.exceptions import FewerColumnsWarning, ThinDataWarning
from skrep.invariance import check_invariance, unclaimed
from skrep.nn.losses import (
    CombinedLoss,
    FisherTraceLoss,
    LDACrossEntropy,
    LogDetLoss,
    SimplexLoss,
)


def rows(n=90, d=5, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, d)) + 2 * rng.normal(size=(n_classes, d))[y], y


def encoder(n_components=2, **params):
    params = {"max_epochs": 4, "hidden": (8,), "random_state": 0, **params}
    return DiscriminantEncoder(n_components, **params)


def same(one, other, X):
    return np.array_equal(one.transform(X), other.transform(X))


# --- what it computes ------------------------------------------------------------


def test_head_whitens_classes_and_is_a_normal_classifier():
    X, y = rows()
    model = encoder(max_epochs=20).fit(X, y)
    Z = model.transform(X)
    means = np.stack([Z[y == c].mean(axis=0) for c in range(3)])
    assert_allclose(model.means_, means, atol=1e-10)
    gaps = Z - means[y]
    assert_allclose(gaps.T @ gaps / len(Z), np.eye(2), atol=1e-9)
    densities = np.stack([multivariate_normal(m).pdf(Z) for m in means], axis=1)
    expected = densities / densities.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X), expected, atol=1e-10)
    assert_array_equal(model.predict(X), expected.argmax(axis=1))


def test_temperature_is_that_of_the_rows_held_out(monkeypatch):
    """Of least logarithmic loss of these rows and one whose class may be any."""
    from skrep.discriminant import _training

    held = []
    plain = _training.hold_out

    def spied(*args):
        held.append(plain(*args))
        return held[-1]

    monkeypatch.setattr(_training, "hold_out", spied)
    X, y = rows(n=150, seed=3)
    w = np.random.default_rng(0).uniform(0.5, 2, len(y))
    # Labels whose order is not that of the first rows.
    labels = np.array(["b", "c", "a"])[y]
    model = encoder(max_epochs=30, validation_fraction=0.3)
    model.fit(X, labels, sample_weight=w)
    new = held[-1][1].X
    where = [np.flatnonzero((row == X).all(axis=1))[0] for row in new]
    codes = np.searchsorted(model.classes_, labels[where])
    T = model.temperature_
    assert T != 1

    def loss(times):
        P = model.predict_log_proba(new) * times
        P -= np.log(np.exp(P).sum(axis=1, keepdims=True))
        rows_ = -(w[where] * P[np.arange(len(codes)), codes]).sum()
        return rows_ - P.mean()

    assert loss(1) < min(loss(0.99), loss(1.01))
    assert encoder().fit(X, labels).temperature_ == 1


def test_temperature_changes_no_label_and_bounds_certainty():
    X, y = load_wine(return_X_y=True)
    model = DiscriminantEncoder(validation_fraction=0.25, random_state=0)
    model.fit(X[::2], y[::2])
    before = model.predict_log_proba(X)
    labels, Z = model.predict(X), model.transform(X)
    T, model.temperature_ = model.temperature_, 1.0
    assert_array_equal(model.predict(X), labels)
    assert_array_equal(model.transform(X), Z)
    unheated = model.predict_log_proba(X) / T
    unheated -= np.log(np.exp(unheated).sum(axis=1, keepdims=True))
    assert_allclose(before, unheated, atol=1e-9)
    # All held-out rows are right here; without the row of any class T would be near 0.
    assert 0.1 < T < 100


def test_priors_count():
    X, y = rows()
    w = np.where(y == 0, 3.0, 1.0)
    model = encoder().fit(X, y, sample_weight=w)
    assert_allclose(model.priors_, [0.6, 0.2, 0.2])
    Z = model.transform(X)
    shares = [0.6, 0.2, 0.2]
    scores = [
        s * multivariate_normal(m).pdf(Z)
        for s, m in zip(shares, model.means_, strict=True)
    ]
    expected = np.stack(scores, axis=1)
    expected /= expected.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X), expected, atol=1e-10)


def test_arrays_are_the_network_and_its_head():
    """A network of one's own with the same layers gives the same columns."""

    class Net(torch.nn.Sequential):
        def __init__(self, n_in, n_out):
            first, last = torch.nn.Linear(n_in, 8), torch.nn.Linear(8, n_out)
            super().__init__(first, torch.nn.ReLU(), last)

    X, y = rows()
    model, own = encoder().fit(X, y), encoder(module=Net).fit(X, y)
    assert_allclose(own.transform(X), model.transform(X), atol=1e-10)
    assert own.coefs_ is None
    assert model.module_ is None
    H = np.maximum(
        (X - X.mean(0)) / X.std(0) @ model.coefs_[0] + model.intercepts_[0], 0
    )
    assert_allclose(H @ model.coefs_[1] + model.intercepts_[1], model.transform(X))


def test_training_lowers_the_loss_and_separates():
    X, y = load_wine(return_X_y=True)
    model = DiscriminantEncoder(max_epochs=40, random_state=0).fit(X[::2], y[::2])
    losses = [epoch["train_loss"] for epoch in model.history_]
    assert len(losses) == model.n_iter_ == 40
    assert losses[-1] < losses[0] / 5
    assert model.score(X[1::2], y[1::2]) > 0.95


@pytest.mark.parametrize("loss", ["lda", "bhattacharyya", "logdet", "deeplda", "dda"])
def test_every_loss_trains(loss):
    X, y = rows()
    model = encoder(loss=loss, max_epochs=60, lr=0.01).fit(X, y)
    losses = [epoch["train_loss"] for epoch in model.history_]
    assert losses[-1] < losses[0]
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("k", [1, 2, 4])
def test_two_classes_give_as_many_columns_as_are_asked_for(k):
    X, y = rows(n_classes=2)
    Z = encoder(k).fit(X, y).transform(X)
    assert Z.shape == (90, k)
    assert np.linalg.matrix_rank(Z - Z.mean(axis=0)) == k


# --- randomness ------------------------------------------------------------------


def test_equal_seeds_are_equal_to_the_bit_and_global_states_stay():
    X, y = rows()
    torch.manual_seed(3)
    states = torch.get_rng_state(), np.random.mtrand._rand.get_state()[1].copy()
    threads = torch.get_num_threads()
    one = encoder(module_params={"dropout": 0.2}).fit(X, y)
    assert torch.equal(torch.get_rng_state(), states[0])
    assert_array_equal(np.random.mtrand._rand.get_state()[1], states[1])
    assert torch.get_num_threads() == threads
    torch.manual_seed(4)
    with torch.inference_mode():
        assert same(one, clone(one).fit(X, y), X)
    assert same(one, copy.deepcopy(one).fit(X, y), X)
    assert not same(one, clone(one).set_params(random_state=1).fit(X, y), X)


# --- inputs ----------------------------------------------------------------------


def test_float_types():
    X, y = rows()
    for dtype in (np.float32, np.float64):
        model = encoder().fit(X.astype(dtype), y)
        held = [*model.coefs_, *model.intercepts_, model.means_, model.priors_]
        assert {part.dtype for part in held} == {np.dtype(dtype)}
        assert model.transform(X.astype(dtype)).dtype == dtype
    whole = (10 * X).astype(int)
    model = encoder().fit(whole.astype(float), y)
    assert same(model, encoder().fit(whole, y.astype(np.int32)), X)
    assert same(model, encoder().fit(whole.astype(float).astype(object), y), X)


@pytest.mark.parametrize(
    "labels", [["a", "b", "c"], ["c", "a", "b"], [30, 10, 20], [-1, 1, 0]]
)
def test_only_the_partition_counts(labels):
    X, y = rows()
    model = encoder().fit(X, np.array(labels)[y])
    assert_allclose(model.transform(X), encoder().fit(X, y).transform(X), rtol=1e-9)
    assert_array_equal(model.classes_, np.sort(labels))
    assert_array_equal(
        model.predict(X), np.array(labels)[encoder().fit(X, y).predict(X)]
    )


def test_batches_of_any_remainder():
    for n, size in ((129, 128), (60, 7), (90, 1000)):
        X, y = rows(n=n, n_classes=3)
        assert np.isfinite(encoder(batch_size=size).fit(X, y).transform(X)).all()
    X, y = rows(n=60, n_classes=30)
    assert np.isfinite(encoder().fit(X, y).transform(X)).all()


def test_small_and_unequal_classes():
    X, y = rows(n=31)
    y = np.where(np.arange(31) == 0, 7, y)
    model = encoder(batch_size=8).fit(X, y)
    assert len(model.classes_) == 4
    X, y = rows(n=105, n_classes=2)
    y = (np.arange(105) >= 100).astype(int)
    for loss in ("lda", "bhattacharyya", "dda"):
        assert np.isfinite(encoder(loss=loss).fit(X, y).transform(X)).all()


def test_scales_of_columns_count_for_nothing():
    X, y = rows()
    model = encoder().fit(X, y)
    for scale in (2.0**13, 2.0**-13):
        assert_array_equal(
            encoder().fit(X * scale, y).transform(X * scale), model.transform(X)
        )
    for scale in (1e4, 1e-4):
        Z = encoder().fit(X * scale, y).transform(X * scale)
        assert_allclose(Z, model.transform(X), rtol=1e-6, atol=1e-8)


def test_constant_and_repeated_columns():
    X, y = rows()
    model = encoder().fit(X, y)
    padded = np.insert(X, [0, 3], [5.0, -0.1], axis=1)
    Z = encoder().fit(padded, y).transform(padded)
    assert_allclose(Z, model.transform(X), rtol=1e-9)
    doubled = np.hstack([X, X])
    assert np.isfinite(encoder().fit(doubled, y).transform(doubled)).all()
    with pytest.raises(ValueError, match=r"all are constant.*Pass columns that vary"):
        encoder().fit(np.ones((90, 2)), y)


@pytest.mark.filterwarnings("ignore:.*loss was 0 in every epoch")
def test_equal_means_and_no_spread_within_classes():
    X, _ = rows(n=64)
    y = np.arange(64) % 2
    mirrored = np.vstack([X, X])
    assert encoder().fit(mirrored, np.repeat([0, 1], 64)).transform(X).shape == (64, 2)
    with pytest.warns(FewerColumnsWarning, match="1 of 2 dimensions"):
        model = encoder().fit(y[:, None] + np.zeros((64, 3)), y)
    assert np.isfinite(model.transform(np.zeros((2, 3)))).all()


def test_weights():
    X, y = rows()
    model = encoder().fit(X, y)
    assert same(model, encoder().fit(X, y, sample_weight=np.ones(90)), X)
    w = (np.arange(90) % 4 > 0).astype(float)
    kept = w > 0
    weighted = encoder().fit(X, y, sample_weight=w)
    assert same(weighted, encoder().fit(X[kept], y[kept]), X)
    doubled = encoder(batch_size=1000).fit(X, y, sample_weight=w + 1)
    repeated = encoder(batch_size=1000).fit(
        np.vstack([X, X[kept]]), np.hstack([y, y[kept]])
    )
    assert_allclose(doubled.transform(X), repeated.transform(X), rtol=1e-6, atol=1e-8)


def test_class_weights():
    X, y = rows(n=80)
    y = np.where(np.arange(80) < 60, 0, y)
    counts = np.bincount(y)
    balanced = encoder(class_weight="balanced").fit(X, y)
    same_sums = encoder().fit(X, y, (80 / 3 / counts)[y])
    assert_allclose(balanced.transform(X), same_sums.transform(X), rtol=1e-8)
    assert_allclose(balanced.priors_, 1 / 3)
    named = encoder(class_weight={1: 2.0}).fit(X, y)
    assert same(named, encoder().fit(X, y, np.array([1.0, 2.0, 1.0])[y]), X)
    for weight in (0, -1, np.nan, np.inf, "2"):
        with pytest.raises(
            ValueError, match=r"'class_weight' gives class 0 .*positive"
        ):
            encoder(class_weight={0: weight}).fit(X, y)
    with pytest.raises(ValueError, match="'class_weight' names class '0'"):
        encoder(class_weight={"0": 2}).fit(X, y)


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
def test_sparse_rows(container):
    X, y = rows()
    X[X < 0.5] = 0
    model = encoder().fit(X, y)
    other = encoder().fit(container(X), y)
    assert_allclose(other.transform(container(X)), model.transform(X), atol=1e-8)


def test_sparse_rows_are_dense_one_batch_at_a_time():
    X = sp.random_array((1024, 4096), density=0.01, format="csr", rng=0)
    y = np.arange(1024) % 2
    tracemalloc.start()
    encoder(max_epochs=1, batch_size=64).fit(X, y).transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.shape[0] * X.shape[1] * 8 / 2


def test_bad_input_is_refused():
    X, y = rows()
    for bad in (np.nan, np.inf):
        broken = X.copy()
        broken[3, 1] = bad
        with pytest.raises(ValueError, match=r"'X' contains.*row 3, column 1"):
            encoder().fit(broken, y)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        encoder().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="'y' contains NaN"):
        encoder().fit(X, np.where(y == 0, np.nan, y))
    with pytest.raises(ValueError, match=r"'y' has 1 class, 4,.*rows of another class"):
        encoder().fit(X, np.full(90, 4))
    with pytest.raises(ValueError, match="'y' has 1 class"):
        encoder().fit(X, y, sample_weight=y == 0)
    with pytest.raises(ValueError, match="squares overflow"):
        encoder().fit(X * 1e200, y)


def test_a_constant_column_counts_for_nothing_under_uneven_weights():
    """The rounding of its variance may come out negative."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.normal(size=1000), np.full(1000, 0.1)])
        y = (rng.random(1000) < 0.3).astype(int)
        model = encoder(1, max_epochs=1, class_weight="balanced").fit(X, y)
        assert model.coefs_[0].shape[0] == 1


def test_rounding_of_single_precision_is_no_dimension():
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(300, 2))
    y = (flat[:, 0] > 0).astype(int) + (flat[:, 1] > 0)
    for draw in range(5):
        X = flat @ np.random.default_rng(draw).normal(size=(2, 8))
        model = encoder(5, hidden=(), max_epochs=5)
        with pytest.warns(FewerColumnsWarning, match="2 of 5 dimensions"):
            Z = model.fit(X.astype(np.float32), y).transform(X.astype(np.float32))
        assert_array_equal(Z[:, 2:], 0)


def test_a_loss_that_cannot_learn_is_told():
    X, y = rows(n=40)
    with pytest.warns(ThinDataWarning, match="loss was 0 in every epoch"):
        encoder(batch_size=1).fit(X, y)
    with pytest.warns(ThinDataWarning, match="more rows of each class"):
        encoder(loss="lda").fit(X, np.arange(40))


# --- parameters ------------------------------------------------------------------


def test_nested_parameters():
    shared = {"dropout": 0.5}
    model = encoder(module_params=shared, optimizer_params={"eps": 1e-7})
    assert model.get_params()["module__dropout"] == 0.5
    assert model.get_params()["optimizer__eps"] == 1e-7
    assert "module__dropout" not in model.get_params(deep=False)
    twin = clone(model).set_params(module__dropout=0.1, optimizer__amsgrad=True)
    assert twin.module_params == {"dropout": 0.1}
    assert twin.optimizer_params == {"eps": 1e-7, "amsgrad": True}
    assert shared == {"dropout": 0.5}
    assert model.module_params is shared
    assert encoder().set_params(module__dropout=0.2).module_params == {"dropout": 0.2}
    assert encoder(module_params="odd").get_params()["module_params"] == "odd"
    X, y = rows()
    assert not same(model.fit(X, y), twin.fit(X, y), X)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("module__droput", "'module__dropout'"),
        ("optimizer__lr", "The rate is 'lr'"),
        ("unknown__key", "Valid parameters are"),
        ("hiden", "Valid parameters are"),
    ],
)
def test_typos_are_refused(name, known):
    model = encoder()
    with pytest.raises(ValueError, match=known):
        model.set_params(**{"lr": 0.3, "module__dropout": 0.1, name: 0.1})
    if name.startswith(("module", "optimizer")):
        assert model.lr != 0.3
    assert model.module_params is None


def test_typos_in_the_dicts_are_refused():
    X, y = rows()
    with pytest.raises(ValueError, match="Valid ones are: 'module__dropout'"):
        encoder(module_params={"droput": 0.1}).fit(X, y)
    with pytest.raises(ValueError, match="'optimizer__betas'"):
        encoder(optimizer_params={"beta": 0.1}).fit(X, y)


def test_more_columns_than_a_loss_can_fill():
    X, y = rows()
    for loss in ("logdet", "deeplda"):
        with pytest.raises(ValueError, match=r"at most 2 columns.*Pass n_components=2"):
            encoder(3, loss=loss).fit(X, y)


@pytest.mark.parametrize("estimator", [DiscriminantEncoder, SimplexClassifier])
@pytest.mark.parametrize(
    ("dtype", "lr", "max_epochs"),
    [
        (np.float32, 1e6, 5),
        (np.float32, 1e38, 1),
        (np.float64, 1e80, 1),
        (np.float64, 1e300, 1),
    ],
)
def test_absurd_learning_rates(estimator, dtype, lr, max_epochs):
    X, y = load_wine(return_X_y=True)
    model = estimator(lr=lr, max_epochs=max_epochs, weight_decay=1.0, random_state=0)
    message = rf"^{estimator.__name__}: .*lower 'lr', which is .*, to lr=0\.01, say"
    with pytest.raises(ValueError, match=message):
        model.fit(X.astype(dtype), y)


def test_weights_that_are_finite_and_outputs_that_are_not():
    X, y = load_wine(return_X_y=True)
    model = DiscriminantEncoder(lr=1e14, max_epochs=1, batch_size=178, random_state=0)
    with pytest.raises(ValueError, match=r"^Disc.*: outputs .*lower 'lr'.*lr=0\.01"):
        model.fit(X.astype(np.float32), y)


def test_wrong_losses():
    X, y = rows()

    class Diverging(torch.nn.Module):
        def forward(self, z, y):
            return z.sum() * torch.nan

    class Rejected(torch.nn.Module):
        def forward(self, z, y):
            return z.square().mean()

    with pytest.raises(ValueError, match=r"must be one of .*'lda'.*instance of"):
        encoder(loss="fisher").fit(X, y)
    with pytest.raises(ValueError, match="Training diverged: lower 'lr'"):
        encoder(loss=Diverging()).fit(X, y)
    with pytest.raises(ValueError, match=r"takes no weights.*sample_weight=None"):
        encoder(loss=Rejected()).fit(X, y, sample_weight=y + 1.0)


def test_losses_of_ones_own():
    X, y = rows()

    class Headed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.head = torch.nn.Linear(2, 3)

        def forward(self, z, y):
            return torch.nn.functional.cross_entropy(self.head(z), y)

    loss = Headed()
    before = copy.deepcopy(loss.state_dict())
    model = encoder(loss=loss, max_epochs=40, lr=0.02).fit(X, y)
    assert all(torch.equal(before[k], v) for k, v in loss.state_dict().items())
    assert model.score(X, y) > 0.8
    named = encoder(loss="lda").fit(X, y)
    assert same(encoder(loss=LDACrossEntropy()).fit(X, y), named, X)
    simplex = encoder(loss=SimplexLoss(3), max_epochs=40, lr=0.02).fit(X, y)
    assert simplex.score(X, y) > 0.8


def test_losses_and_modules_that_do_not_fit():
    X, y = rows()

    class Rowwise(torch.nn.Module):
        def forward(self, z, y):
            return z.square().sum(1)

    class Wide(torch.nn.Linear):
        def __init__(self, n_in, n_out):
            super().__init__(n_in, n_out + 1)

    with pytest.raises(RuntimeError) as caught:
        encoder(loss=Rowwise()).fit(X, y)
    assert "Raised by the loss Rowwise" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match=r"outputs of shape \(90, 3\) for 90 rows"):
        encoder(module=Wide, batch_size=90).fit(X, y)
    both = CombinedLoss([torch.nn.CrossEntropyLoss(), LogDetLoss()])
    with pytest.raises(
        ValueError, match="CombinedLoss, whose forward takes no weights"
    ):
        encoder(loss=both).fit(X, y, sample_weight=y + 1.0)
    with pytest.raises(ValueError, match=r"'callbacks' holds 3.*callback of skorch"):
        encoder(callbacks=[3]).fit(X, y)
    with pytest.raises(KeyError) as caught:
        encoder(callbacks=[EarlyStopping()]).fit(X, y)
    assert "validation_fraction=0.2" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match="'n_components' is True"):
        encoder(True).fit(X, y)


@pytest.mark.filterwarnings("ignore:.*loss was 0 in every epoch")
def test_a_collapsed_network_is_told():
    class Flat(torch.nn.Module):
        def __init__(self, n_in, n_out):
            super().__init__()
            self.bias = torch.nn.Parameter(torch.zeros(n_out))

        def forward(self, x):
            return self.bias.expand(len(x), -1)

    X, y = rows()
    with pytest.warns(FewerColumnsWarning, match=r"0 of 2 dimensions.*has collapsed"):
        Z = encoder(module=Flat).fit(X, y).transform(X)
    assert_array_equal(Z, np.zeros((90, 2)))


# --- callbacks and early stopping ------------------------------------------------


def test_early_stopping_returns_to_the_best_weights():
    X, y = make_classification(200, 20, n_informative=4, flip_y=0.3, random_state=0)
    model = encoder(
        1, max_epochs=300, hidden=(64,), lr=0.01, validation_fraction=0.3
    ).fit(X, y)
    losses = [epoch["valid_loss"] for epoch in model.history_]
    assert model.n_iter_ == len(losses) == np.argmin(losses) + 11 < 300
    assert model.best_loss_ == min(losses)
    short = clone(model).set_params(max_epochs=int(np.argmin(losses)) + 1).fit(X, y)
    assert same(model, short, X)
    assert encoder().fit(X, y).best_loss_ is None
    with pytest.raises(ValueError, match=r"too few rows.*validation_fraction=None"):
        model.fit(X, np.where(np.arange(200) == 0, 5, y))


def test_callbacks_of_skorch():
    class Count(Callback):
        epochs = 0

        def on_epoch_end(self, net, **kwargs):
            self.epochs += 1

    X, y = rows()
    count = Count()
    model = encoder(callbacks=[count]).fit(X, y)
    assert model.callbacks[0] is count
    assert count.epochs == 4
    stop = EarlyStopping(monitor="train_loss", patience=2, threshold=1e9)
    assert encoder(loss="lda", max_epochs=50, callbacks=[stop]).fit(X, y).n_iter_ < 10

    class Interrupt(Callback):
        def on_batch_begin(self, net, **kwargs):
            raise KeyboardInterrupt

    fresh = encoder(callbacks=[Interrupt()])
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(X, y)
    assert not hasattr(fresh, "classes_")


def test_callbacks_of_scikit_learn_see_a_fitted_encoder_and_may_stop():
    seen = []

    class Watch:
        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
            seen.append(fitted_estimator.score(X, y))
            return fitted_estimator.n_iter_ == 2

    X, y = rows()
    model = encoder().set_callbacks(Watch()).fit(X, y)
    assert model.n_iter_ == 2
    assert seen[-1] == model.score(X, y)


# --- pickles, devices, and no torch ----------------------------------------------


class Normed(torch.nn.Sequential):
    """A network with buffers, at the module's top so that it pickles."""

    def __init__(self, n_in, n_out, units=4):
        layers = torch.nn.Linear(n_in, units), torch.nn.BatchNorm1d(units)
        super().__init__(*layers, torch.nn.ReLU(), torch.nn.Linear(units, n_out))


def test_modules_of_ones_own_survive_pickles():
    X, y = rows()
    model = encoder(module=Normed, module_params={"units": 6}, device="cpu").fit(X, y)
    state = model.__getstate__()
    assert all(isinstance(v, np.ndarray) for v in state["module_"].values())
    random = torch.get_rng_state()
    # As if it had been trained on a device that this machine lacks.
    model.device = "cuda"
    again = pickle.loads(pickle.dumps(model))
    assert torch.equal(torch.get_rng_state(), random)
    assert same(model, again, X)
    assert same(model, copy.deepcopy(model), X)
    # What was fitted counts, and not what the next fit shall be.
    model.set_params(module__units=9)
    assert same(model, pickle.loads(pickle.dumps(model)), X)
    with pytest.raises(ValueError, match="module__units"):
        clone(model).set_params(module__width=3)


class Dropped(torch.nn.Sequential):
    def __init__(self, n_in, n_out):
        super().__init__(torch.nn.Linear(n_in, n_out), torch.nn.Dropout(0.5))


@pytest.mark.parametrize("module", [Normed, Dropped])
def test_modules_of_ones_own_are_applied_row_by_row(module):
    X, y = rows()
    model = encoder(module=module).fit(X, y)
    assert not model.module_.training
    for fitted in (model, copy.deepcopy(model)):
        assert_allclose(fitted.transform(X)[:1], fitted.transform(X[:1]), rtol=1e-9)
        assert not fitted.module_.training


def test_modules_of_ones_own_get_all_columns():
    X, y = rows()
    X[:, 2] = 4.0
    model = encoder(module=Normed).fit(X, y)
    assert model.module_[0].in_features == 5
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.skipif(torch.cuda.is_available(), reason="the device is there")
def test_a_device_that_is_not_there():
    X, y = rows()
    with pytest.raises(ValueError, match=r'does not have. Pass device="cpu"'):
        encoder(device="cuda").fit(X, y)


def test_without_torch(tmp_path):
    X, y = rows()
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(encoder().fit(X, y)))
    code = """
import pickle, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "skorch"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import numpy as np
from sklearn.base import clone
from skrep.discriminant import DiscriminantEncoder, SimplexClassifier
for model in (DiscriminantEncoder(module_params={"dropout": 0.1}), SimplexClassifier()):
    repr(clone(model)), model.get_params(), model._repr_html_()
    try:
        model.set_params(optimizer__eps=1e-7).fit(np.eye(4), [0, 1, 0, 1])
    except ImportError as error:
        assert "pip install 'skrep[torch]'" in str(error), error
    else:
        raise AssertionError
model = pickle.load(open(sys.argv[1], "rb"))
print(model.predict(np.zeros((1, 5))).shape, model.transform(np.zeros((1, 5))).shape)
"""
    command = [sys.executable, "-c", code, str(tmp_path / "model.pickle")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "(1,) (1, 2)\n", done.stderr


# --- inside scikit-learn ---------------------------------------------------------


def test_in_a_searched_pipeline():
    X, y = load_wine(return_X_y=True)
    steps = [
        ("pca", PCA()),
        ("encoder", encoder(max_epochs=2)),
        ("neighbors", KNeighborsClassifier(3)),
    ]
    grid = {
        "pca__n_components": [3, 5],
        "encoder__n_components": [1, 2],
        "encoder__loss": ["lda", FisherTraceLoss()],
        "encoder__module__dropout": [0.0, 0.1],
    }
    search = GridSearchCV(Pipeline(steps), grid, cv=2, n_jobs=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.5


# --- invariance ------------------------------------------------------------------


@pytest.mark.parametrize("held_out", [None, 0.25])
@pytest.mark.parametrize("loss", ["lda", FisherTraceLoss()], ids=["name", "module"])
def test_claims_hold_and_what_is_not_claimed_is_broken(loss, held_out):
    X, y = rows(n=48, d=4)
    model = encoder(loss=loss, batch_size=16, validation_fraction=held_out)
    for claim in model.invariances():
        report = check_invariance(model, claim, X, y)
        assert report.holds, report
    others = {claim.group: claim for claim in unclaimed(model)}
    assert {"orthogonal", "row_scaling", "row_permutation"} <= set(others)
    # A loss of one's own may see labels as a partition, or not.
    others.pop("label_permutation", None)
    for claim in others.values():
        report = check_invariance(model, claim, X, y, n_draws=4)
        assert not report.holds, report
