"""Steps of a fit, told to scikit-learn's callbacks."""

import pytest
from sklearn.base import BaseEstimator, _fit_context, clone

from skrep.utils import callbacks
from skrep.utils.callbacks import CallbackSupport, FitSteps


class Counting(CallbackSupport, BaseEstimator):
    """Counts its steps; ends by itself after `enough` of them."""

    _parameter_constraints = {}

    def __init__(self, n_steps=4, enough=99):
        self.n_steps = n_steps
        self.enough = enough

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        done = []
        steps = FitSteps(
            self, self.n_steps, state=lambda: {"n_iter_": len(done)}, X=X, y=y
        )
        for step in steps:
            done.append(step)
            if len(done) == self.enough:
                steps.stop()
            if step == self.n_steps - 1 and X == "bad":
                raise ArithmeticError
        self.n_iter_ = len(done)
        return self


class Watch:
    """Records what it hears; asks to stop after some steps."""

    def __init__(self, last=99):
        self.last = last
        self.heard = []

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X):
        self.heard.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.heard.append(f"end {context.task_name} at {fitted_estimator.n_iter_}")
        return fitted_estimator.n_iter_ == self.last


def test_without_callbacks_it_is_a_range():
    assert Counting().fit([[0.0]]).n_iter_ == 4
    assert Counting(enough=2).fit([[0.0]]).n_iter_ == 2


def test_callbacks_hear_every_step():
    watch = Watch()
    assert Counting(2).set_callbacks(watch).fit([[0.0]]).n_iter_ == 2
    assert watch.heard == [
        "setup",
        "begin fit",
        "begin step 0",
        "end step 0 at 1",
        "begin step 1",
        "end step 1 at 2",
        "end fit at 2",
        "teardown",
    ]


@pytest.mark.parametrize(("last", "enough"), [(2, 99), (99, 2)])
def test_callback_and_estimator_can_end_the_fit(last, enough):
    watch = Watch(last)
    model = Counting(enough=enough).set_callbacks(watch).fit([[0.0]])
    assert model.n_iter_ == 2
    assert watch.heard[-2:] == ["end fit at 2", "teardown"]


def test_a_failing_fit_lets_callbacks_go():
    watch = Watch()
    with pytest.raises(ArithmeticError):
        Counting(1).set_callbacks(watch).fit("bad")
    assert watch.heard[-1] == "teardown"


def test_callbacks_survive_clone_and_can_be_removed():
    model = Counting().set_callbacks(Watch())
    assert clone(model)._skl_callbacks
    assert not hasattr(model.set_callbacks(), "_skl_callbacks")
    with pytest.raises(TypeError, match="FitCallback protocol"):
        model.set_callbacks("no callback")


def test_a_callback_of_scikit_learn_runs():
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring={"steps": lambda model, X, y: model.n_iter_})
    Counting(3).set_callbacks(monitor).fit([[0.0]], [0.0])
    assert sorted(row["steps"] for row in monitor.get_logs().data) == [1, 2, 3, 3]


def test_older_versions_of_scikit_learn_are_told_apart(monkeypatch):
    monkeypatch.setattr(callbacks, "_mixin", lambda: None)
    assert Counting().fit([[0.0]]).n_iter_ == 4
    assert not hasattr(Counting(), "set_callbacks")
    with pytest.raises(AttributeError) as error:
        Counting().set_callbacks()
    assert "pip install -U scikit-learn" in str(error.value.__cause__)
