"""Fixtures of the searches."""

import pytest
import sklearn


@pytest.fixture
def metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield
