"""Nested parameters: entries of two dicts, read and written by name."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrep.utils.net_params import NetParams, check_keys, module_keys


class Net(NetParams, BaseEstimator):
    def __init__(self, module="mlp", lr=0.1, module_params=None, optimizer_params=None):
        self.module = module
        self.lr = lr
        self.module_params = module_params
        self.optimizer_params = optimizer_params


class Widths:
    def __init__(self, n_in, n_out, depth=1, *, act="relu"):
        self.given = n_in, n_out, depth, act


def test_entries_are_listed_beside_the_dicts():
    dropout, eps = {"dropout": 0.5}, {"eps": 1e-7}
    net = Net(module_params=dropout, optimizer_params=eps)
    assert net.get_params() == {
        "module": "mlp",
        "lr": 0.1,
        "module_params": dropout,
        "module__dropout": 0.5,
        "optimizer_params": eps,
        "optimizer__eps": 1e-7,
    }
    assert net.get_params(deep=False).keys() == {
        "module",
        "lr",
        "module_params",
        "optimizer_params",
    }
    assert Net().get_params() == Net().get_params(deep=False)


def test_writing_makes_a_fresh_dict():
    shared = {"dropout": 0.5}
    one, other = Net(module_params=shared), Net(module_params=shared)
    assert one.set_params(module__dropout=0.1) is one
    assert one.module_params == {"dropout": 0.1}
    assert other.module_params is shared
    assert shared == {"dropout": 0.5}


def test_writing_keeps_the_other_entries():
    net = Net(optimizer_params={"eps": 1e-7})
    net.set_params(optimizer__betas=(0.5, 0.9), optimizer__amsgrad=True, lr=0.2)
    assert net.optimizer_params == {"eps": 1e-7, "betas": (0.5, 0.9), "amsgrad": True}
    assert net.module_params is None
    assert net.lr == 0.2


def test_a_dict_and_its_entry_at_once():
    net = Net().set_params(module__dropout=0.2, module_params={"dropout": 0.1})
    assert net.module_params == {"dropout": 0.2}
    net.set_params(module__act="tanh", module=Widths, module_params=None)
    assert net.module_params == {"act": "tanh"}


@pytest.mark.parametrize("odd", ["text", 3, np.ones(2), [("dropout", 1)]])
def test_what_is_no_dict_survives(odd):
    net = Net(module_params=odd)
    assert net.get_params()["module_params"] is odd
    assert net.set_params(module__dropout=0.3).module_params == {"dropout": 0.3}


def test_clones_and_pipelines():
    net = Net(module_params={"dropout": 0.5}, optimizer_params={"eps": 1e-7})
    twin = clone(net)
    assert twin.get_params() == net.get_params()
    assert twin.module_params is not net.module_params
    pipe = make_pipeline(StandardScaler(), net)
    assert pipe.get_params()["net__module__dropout"] == 0.5
    pipe.set_params(net__module__dropout=0.2)
    assert net.module_params == {"dropout": 0.2}


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("module__droput", r"Net: 'module__droput' is not.*are: 'module__dropout'\."),
        ("module__dropout__p", "'module__dropout__p' is not a parameter"),
        ("optimizer__lr", "'optimizer__betas'.* The rate is 'lr', the decay"),
        ("optimizer__beta", "Valid ones are: 'optimizer__amsgrad'"),
        ("module__", "'module__' is not a parameter"),
        ("modul__dropout", "Invalid parameter 'modul'"),
        ("rate", "Invalid parameter 'rate'"),
    ],
)
def test_typos_are_refused(name, rule):
    net = Net(module_params={"dropout": 0.5})
    with pytest.raises(ValueError, match=rule):
        net.set_params(**{name: 0.1})
    assert net.module_params == {"dropout": 0.5}
    assert net.optimizer_params is None


def test_parameters_of_a_module_of_ones_own():
    net = Net(Widths).set_params(module__depth=3, module__act="tanh")
    assert Widths(4, 2, **net.module_params).given == (4, 2, 3, "tanh")
    with pytest.raises(ValueError, match="are: 'module__depth', 'module__act'"):
        net.set_params(module__dropout=0.1)
    with pytest.raises(ValueError, match="are: 'module__depth', 'module__act'"):
        net.set_params(module__n_in=3)


def test_keys_of_modules():
    class Bare:
        def __init__(self, n_in, n_out):
            pass

    class Positional:
        def __init__(self, n_in, n_out, /, depth=1):
            pass

    class Starred:
        def __init__(self, *widths, depth=1):
            pass

    class Open(Widths):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)

    assert module_keys("mlp") == ("dropout",)
    assert module_keys(Widths) == ("depth", "act")
    assert module_keys(Bare) == ()
    assert module_keys(Positional) == ("depth",)
    assert module_keys(Starred) == ("depth",)
    assert module_keys(Open) is None
    assert Net(Open).set_params(module__anything=1).module_params == {"anything": 1}
    with pytest.raises(ValueError, match="Valid ones are: none"):
        check_keys("Net", Bare, "module", {"depth": 1})
    check_keys("Net", Widths, "module", {"depth": 1})
    check_keys("Net", "mlp", "optimizer", {"betas": (0.9, 0.99), "fused": True})


class OptimizerOnly(NetParams, BaseEstimator):
    def __init__(self, optimizer_params=None):
        self.optimizer_params = optimizer_params


def test_an_estimator_with_one_dict_has_its_entries_alone():
    model = OptimizerOnly().set_params(optimizer__eps=1e-7)
    assert model.get_params()["optimizer__eps"] == 1e-7
    with pytest.raises(ValueError, match="Invalid parameter 'module'"):
        model.set_params(module__dropout=0.1)
