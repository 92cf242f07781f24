"""Warnings that point at the line of the caller."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrep.exceptions import FewerColumnsWarning
from skrep.relative import RelativeRepresentation
from skrep.utils import warn
from skrep.utils.targets import check_target


def test_a_direct_call_is_the_place():
    with pytest.warns(FewerColumnsWarning, match="^thin$") as caught:
        warn("thin", FewerColumnsWarning)
    assert caught[0].filename == __file__


def test_the_library_is_passed_over():
    with pytest.warns(UserWarning, match="more than 20") as caught:
        check_target("test", np.arange(30), 30)
    assert caught[0].filename == __file__


def test_pipelines_are_passed_over():
    model = make_pipeline(StandardScaler(), RelativeRepresentation(50))
    with pytest.warns(FewerColumnsWarning) as caught:
        model.fit(np.random.default_rng(0).standard_normal((20, 3)))
    assert {warning.filename for warning in caught} == {__file__}
