"""KnowledgeGraphEmbedding: what it learns, refuses and leaves alone."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils import check_random_state
from skorch.callbacks import Callback

from skrep.hyperbolic import KnowledgeGraphEmbedding
from skrep.hyperbolic._knowledge_models import HYPERBOLIC, MODELS
from skrep.hyperbolic._knowledge_training import both_ways, first_tables
from skrep.invariance import Claim, check_invariance
from skrep.metrics import link_prediction_scores
from tests.strategies import seeds


def tree(depth=4):
    """Triples of a binary tree, in two relations of children and one of siblings."""
    triples = []
    for node in range(1, 2**depth - 1):
        parent = (node - 1) // 2
        triples.append(
            (f"n{node}", "left of" if node % 2 else "right of", f"n{parent}")
        )
        if node % 2:
            triples.append((f"n{node}", "beside", f"n{node + 1}"))
    return triples


X = tree()


def embedding(n_components=8, **params):
    params = {"max_epochs": 3, "random_state": 0, **params}
    return KnowledgeGraphEmbedding(n_components, **params)


# --- what it learns --------------------------------------------------------------


@pytest.mark.parametrize("model", sorted(MODELS))
def test_true_triples_score_high(model):
    few = embedding(16, model=model, max_epochs=1).fit(X)
    long = clone(few).set_params(max_epochs=60, lr=0.05).fit(X)
    assert long.score(X) > max(0.9, few.score(X))
    curved = model in HYPERBOLIC
    assert (long.curvatures_ > 0).all() == curved
    assert (np.ptp(long.curvatures_) > 0.01) == curved
    assert long.history_[-1]["train_loss"] < 0.3 * few.history_[0]["train_loss"]


@pytest.mark.parametrize("model", sorted(MODELS))
def test_attributes(model):
    found = embedding(model=model).fit(X)
    assert_array_equal(found.entities_, sorted({e for h, _, t in X for e in (h, t)}))
    assert_array_equal(found.relations_, ["beside", "left of", "right of"])
    width = {"complex": 8, "rote": 12, "roth": 12, "refh": 12, "atth": 24}[model]
    assert found.entity_embedding_.shape == (len(found.entities_), 8)
    assert found.relation_embedding_.shape == (6, width)
    assert found.curvatures_.shape == (6,)
    assert found.entity_bias_.shape == found.entities_.shape
    assert found.entity_bias_.any() == (model != "complex")
    for value in vars(found).values():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert value.dtype == np.float32
    assert found.n_iter_ == len(found.history_) == 3
    assert found.best_loss_ is None


@pytest.mark.parametrize("model", sorted(MODELS))
def test_candidates_hold_the_scores_of_triples(model):
    found = embedding(model=model).fit(X)
    tails = found.candidate_scores(X, "tail")
    places = np.searchsorted(found.entities_, [t for *_, t in X])
    own = tails[np.arange(len(X)), places]
    assert_allclose(found.decision_function(X), own, rtol=1e-6, atol=1e-8)
    heads = found.candidate_scores(X, "head")
    assert heads.shape == tails.shape == (len(X), len(found.entities_))
    assert not np.allclose(heads, tails)


def test_heads_are_sought_by_the_reciprocal_relation():
    found = embedding(max_epochs=20).fit(X)
    swapped = pickle.loads(pickle.dumps(found))
    swapped.relation_embedding_ = np.roll(found.relation_embedding_, 3, axis=0)
    back = [(t, r, h) for h, r, t in X]
    heads, tails = found.candidate_scores(X, "head"), found.candidate_scores(X, "tail")
    assert_array_equal(swapped.candidate_scores(back, "tail"), heads)
    assert_array_equal(swapped.candidate_scores(back, "head"), tails)


def test_score_is_the_filtered_mean_reciprocal_rank():
    found = embedding(max_epochs=20).fit(X)
    loops = [(node, "left of", parent) for parent, _, node in X]
    expected = link_prediction_scores(found, loops, known=X).mrr
    assert found.score(loops) == pytest.approx(expected, rel=1e-12)
    new = [("n5", "left of", "n1")]
    expected = link_prediction_scores(found, new, known=X).mrr
    assert found.score(new) == pytest.approx(expected, rel=1e-12)
    assert expected > link_prediction_scores(found, new).mrr


def test_predicted_ties_count_against_the_true_entity():
    found = embedding().fit(X)
    found.entity_embedding_ = np.zeros_like(found.entity_embedding_)
    n = len(found.entities_)
    assert found.score([("n1", "beside", "n5")]) == pytest.approx(
        np.mean([1 / (n - 1), 1 / n])
    )


def test_regularization_shrinks():
    norms = [
        np.linalg.norm(
            embedding(regularization=reg, max_epochs=20).fit(X).entity_embedding_
        )
        for reg in (0.0, 1.0)
    ]
    assert norms[1] < 0.7 * norms[0]


def test_regularization_is_a_factor_of_the_mean_of_cubes():
    from skrep.nn._triples import TripleLoss

    outputs = torch.tensor([[1.0, 2.0], [3.0, 6.0]])
    assert TripleLoss(0.5)(outputs, torch.zeros(2)) == 2 + 0.5 * 4


def test_both_ways():
    triples = np.array([[0, 1, 2], [3, 0, 3]])
    expected = [[0, 1, 2], [3, 0, 3], [2, 3, 0], [3, 2, 3]]
    assert_array_equal(both_ways(triples, 2), expected)


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_first_curvatures_are_one(seed):
    tables = first_tables("roth", 4, 5, 3, np.random.default_rng(seed))
    assert_allclose(np.log1p(np.exp(tables["curvature"])), 1, rtol=1e-6)
    angles = tables["relation"][:, :2]
    assert np.abs(angles).max() <= np.pi < 4 * np.abs(angles).max()


# --- what counts for nothing -----------------------------------------------------


def test_equal_seeds_are_equal_to_the_bit_and_global_states_stay():
    torch_state, state = torch.get_rng_state(), check_random_state(None).get_state()
    one, other = (embedding(model="atth").fit(X) for _ in range(2))
    assert_array_equal(one.decision_function(X), other.decision_function(X))
    third = embedding(model="atth", random_state=1).fit(X)
    assert not np.allclose(one.decision_function(X), third.decision_function(X))
    assert torch.equal(torch_state, torch.get_rng_state())
    assert_array_equal(state[1], check_random_state(None).get_state()[1])


def test_order_and_repetition_count_for_nothing():
    one = embedding().fit(X)
    other = embedding().fit([*X[::-1], *X[:5]])
    assert_array_equal(one.entity_embedding_, other.entity_embedding_)
    assert one.invariances() == (Claim("row_permutation", "same_action"),)
    rows = np.array(X, dtype=object)
    assert check_invariance(embedding(), one.invariances()[0], rows).holds


@pytest.mark.parametrize(
    "make",
    [
        np.array,
        lambda rows: np.array(rows, dtype=object),
        pd.DataFrame,
        lambda rows: pl.DataFrame(rows, schema=["a", "b", "c"], orient="row"),
    ],
    ids=["text", "objects", "pandas", "polars"],
)
def test_containers(make):
    rows = make(X)
    found = embedding().fit(rows)
    expected = embedding().fit(X).decision_function(X)
    assert_array_equal(found.decision_function(rows), expected)


def test_labels_may_be_numbers():
    names = sorted({e for h, _, t in X for e in (h, t)})
    numbered = [(names.index(h), r, names.index(t)) for h, r, t in X]
    found = embedding().fit(numbered)
    assert found.entities_.dtype.kind == "i"
    expected = embedding().fit(X).decision_function(X)
    assert_array_equal(found.decision_function(numbered), expected)
    floats = [(float(h), r, float(t)) for h, r, t in numbered]
    assert_array_equal(found.decision_function(floats), expected)


# --- small and odd graphs --------------------------------------------------------


@pytest.mark.parametrize("model", sorted(MODELS))
@pytest.mark.parametrize(
    "triples",
    [
        [("a", "r", "b")],
        [("a", "r", "a"), ("a", "r", "b")],
        [("a", "r", "b")] * 4,
        [("a", "r", "b"), ("b", "r", "c"), ("c", "once", "a")],
    ],
    ids=["one triple", "a loop", "repeated", "a relation of one triple"],
)
def test_small_graphs(model, triples):
    found = embedding(2, model=model, max_epochs=30, lr=0.1).fit(triples)
    assert np.isfinite(found.decision_function(triples)).all()
    assert found.score(triples) == 1


def test_more_entities_than_a_step_sees(monkeypatch):
    monkeypatch.setattr("skrep.hyperbolic._knowledge_training.FEW", 14)
    monkeypatch.setattr("skrep.hyperbolic._knowledge_training.N_RIVALS", 5)
    for model in ("complex", "roth"):
        found = embedding(16, model=model, max_epochs=60, lr=0.05).fit(X)
        assert found.score(X) > 0.85


def test_a_sample_stands_for_all_entities():
    """The loss of a sample is on the scale of the loss that all entities give."""
    from functools import partial

    from skrep.hyperbolic._knowledge_models import cubes, queries, scores_of
    from skrep.nn._triples import TripleNet

    rng = np.random.default_rng(0)
    tables = first_tables("rote", 4, 400, 2, rng)
    parts = {"query": queries, "scores": scores_of}
    parts = {name: partial(part, torch, "rote") for name, part in parts.items()}
    net = TripleNet(tables, **parts, cubes=partial(cubes, "rote"), n_rivals=100)
    rows = torch.from_numpy(rng.integers(0, (400, 4, 400), (300, 3)))
    sampled = net(rows)[:, 0].mean()
    whole = net.eval()(rows)[:, 0].mean()
    assert abs(sampled - whole) < 0.1
    tails = net.entity[rows[:, 2]]
    part = net.relation[rows[:, 1]], torch.ones(300, 1)
    query = net.query(net.entity[rows[:, 0]], *part)
    table = net._scores(query, net.entity, net.bias, part[1])
    expected = torch.nn.functional.cross_entropy(table, rows[:, 2])
    assert torch.allclose(whole, expected, rtol=1e-4)
    assert tails.shape == (300, 4)


# --- parameters ------------------------------------------------------------------


def test_nested_parameters_and_search():
    model = embedding(optimizer_params={"betas": (0.8, 0.9)})
    assert model.get_params()["optimizer__betas"] == (0.8, 0.9)
    search = GridSearchCV(
        model.set_params(optimizer__eps=1e-7),
        {"regularization": [0.0, 0.01], "optimizer__betas": [(0.9, 0.999)]},
        cv=[(np.arange(len(X)), np.arange(5))],
    ).fit(np.array(X))
    assert search.best_estimator_.optimizer_params["eps"] == 1e-7
    with pytest.raises(ValueError, match=r"'optimizer__lr' is not .*The rate is 'lr'"):
        model.set_params(optimizer__lr=1)


@pytest.mark.parametrize("bad", [0, 1, 3, -2, 2.0, True, "4", None])
def test_numbers_of_components(bad):
    with pytest.raises(ValueError, match=r"even integer.*Pass n_components=32"):
        embedding(bad).fit(X)


@pytest.mark.parametrize(
    ("name", "bad"),
    [("model", "transe"), ("regularization", -1.0), ("lr", 0.0), ("max_epochs", 0)],
)
def test_constraints(name, bad):
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        embedding(**{name: bad}).fit(X)


def test_training_that_runs_away_is_told():
    with pytest.raises(ValueError, match=r"Training diverged: lower 'lr'"):
        embedding(model="roth", lr=1e6, max_epochs=20).fit(X)


def test_a_device_that_is_not_there():
    with pytest.raises(ValueError, match=r'does not have. Pass device="cpu"'):
        embedding(device="cuda").fit(X)


def test_held_out_triples_end_the_training():
    model = embedding(
        16, validation_fraction=0.3, max_epochs=300, regularization=0.0, lr=0.1
    ).fit(X)
    losses = [epoch["valid_loss"] for epoch in model.history_]
    assert model.n_iter_ == len(losses) == np.argmin(losses) + 11 < 300
    assert model.best_loss_ == min(losses)
    assert len(model.entities_) == 15
    with pytest.raises(ValueError, match="validation_fraction=None"):
        embedding(validation_fraction=0.5).fit(X[:1])


# --- bad input -------------------------------------------------------------------


def test_what_cannot_be_told_apart():
    with pytest.raises(
        ValueError, match=r"one entity, 'a'.*\('Oslo', 'in', 'Norway'\)"
    ):
        embedding().fit([("a", "r", "a")])


def test_labels_of_fit():
    found = embedding().fit(X)
    for call in (found.decision_function, found.score, found.candidate_scores):
        with pytest.raises(ValueError, match=r"head 'new' in row 1.*model.entities_\)"):
            call([("n1", "beside", "n2"), ("new", "beside", "n2")])
        with pytest.raises(ValueError, match=r"relation 'new'.*model.relations_\)"):
            call([("n1", "new", "n2")])
        with pytest.raises(ValueError, match=r"head 1 .*model.entities_\)"):
            call([(1, "beside", 1)])


def test_mixed_labels_are_refused():
    with pytest.raises(ValueError, match=r"numbers, as 1, and strings.*map\(str, row"):
        embedding().fit([(1, "r", "b"), (2, "r", "b")])


def test_frames_are_compared_by_name():
    frame = pd.DataFrame(X, columns=["head", "relation", "tail"])
    found = embedding().fit(frame)
    assert_array_equal(found.feature_names_in_, frame.columns)
    for bad in (frame[["tail", "relation", "head"]], frame.rename(columns=str.upper)):
        for call in (found.decision_function, found.score, found.candidate_scores):
            with pytest.raises(
                ValueError, match=r"KnowledgeGraphEmbedding: .*feature names"
            ):
                call(bad)
    assert found.score(frame) == embedding().fit(X).score(X)


def test_sides():
    found = embedding().fit(X)
    with pytest.raises(ValueError, match=r"'side' is 'tails'.*side=\"tail\""):
        found.candidate_scores(X, "tails")


def test_unfitted():
    for call in ("decision_function", "score", "candidate_scores"):
        with pytest.raises(NotFittedError):
            getattr(embedding(), call)(X)
    with pytest.raises(NotFittedError):
        embedding().entity_frame()


# --- callbacks, pickles, tables --------------------------------------------------


class Interrupt(Callback):
    def on_epoch_end(self, net, **_):
        if len(net.history) == 2:
            raise RuntimeError("stop here")


def test_an_error_leaves_the_first_fit():
    model = embedding().fit(X)
    before = model.decision_function(X)
    model.set_params(callbacks=[Interrupt()])
    with pytest.raises(RuntimeError, match="stop here"):
        model.fit([("a", "r", "b")])
    assert_array_equal(model.decision_function(X), before)


def test_the_rate_falls():
    class Watch(Callback):
        rates = ()

        def on_epoch_begin(self, net, **_):
            self.rates += (net.optimizer_.param_groups[0]["lr"],)

    watch = Watch()
    embedding(callbacks=[watch], max_epochs=4, lr=0.1).fit(X)
    assert_allclose(watch.rates, 0.1 * (1 - 0.95 * np.arange(4) / 4))


def test_callbacks_of_scikit_learn_see_a_fitted_model_and_may_stop():
    seen = []

    class Watch:
        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
            seen.append(fitted_estimator.score(X))
            return fitted_estimator.n_iter_ == 2

    model = embedding().set_callbacks(Watch()).fit(X)
    assert model.n_iter_ == 2
    assert seen[-1] == model.score(X)


def test_entity_frame_joins():
    found = embedding(4).fit(X)
    frame = found.entity_frame()
    assert list(frame.columns) == ["entity0", "entity1", "entity2", "entity3"]
    table = pd.DataFrame({"node": ["n3", "n0", "n99"], "value": [1, 2, 3]})
    joined = table.join(frame, on="node")
    place = found.entities_.tolist().index("n3")
    assert_array_equal(joined.iloc[0, 2:].astype(float), found.entity_embedding_[place])
    assert joined.iloc[2, 2:].isna().all()
    frame.iloc[0, 0] = 99
    assert found.entity_embedding_[0, 0] != 99


def test_without_torch(tmp_path):
    found = embedding(model="roth").fit(X)
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(found))
    code = """
import pickle, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "skorch"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from sklearn.base import clone
from skrep.hyperbolic import KnowledgeGraphEmbedding
model = KnowledgeGraphEmbedding()
repr(clone(model)), model.get_params(), model._repr_html_()
try:
    model.set_params(optimizer_params={"eps": 1e-7}).fit([("a", "r", "b")])
except ImportError as error:
    assert "pip install 'skrep[torch]'" in str(error), error
else:
    raise AssertionError
model = pickle.load(open(sys.argv[1], "rb"))
print(model.score([("n1", "beside", "n2")]) > 0, model.entity_frame().shape)
"""
    command = [sys.executable, "-c", code, str(tmp_path / "model.pickle")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "True (15, 8)\n", done.stderr
