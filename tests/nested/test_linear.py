"""What the linear members of the family share."""

import numpy as np
import pytest

from skrep.nested import NestedProjection


def test_overflow_in_any_column_is_refused():
    X = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    nested = NestedProjection().fit(X)
    nested.components_ = np.float32([[1e-3, 0, 0], [0, 10, 0], [0, 0, 1]])
    far = np.float32([[0, 3e38, 0]])
    with pytest.raises(ValueError, match=r"overflow float32. Pass X.astype"):
        nested.transform(far)
    assert np.isfinite(nested.transform(far.astype(np.float64))).all()
