"""Hypothesis strategies that several tests share."""

import numpy as np
from hypothesis import strategies as st

seeds = st.integers(0, 2**32 - 1)


@st.composite
def matrices(draw, min_rows=2, max_rows=12, min_columns=1, max_columns=6):
    """Dense float64 matrices of moderate range, drawn through a seed."""
    n = draw(st.integers(min_rows, max_rows))
    d = draw(st.integers(min_columns, max_columns))
    rng = np.random.default_rng(draw(seeds))
    scale = draw(st.sampled_from([1e-3, 1.0, 1e3]))
    return scale * (rng.standard_normal((n, d)) + draw(st.sampled_from([0.0, 3.0])))
