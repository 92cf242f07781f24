"""What estimators must share to be merged."""

import numpy as np
import pandas as pd
import pytest

from skrep.discriminant import LinearDiscriminantProjection
from skrep.utils.merging import check_same_fit, check_same_labels


def fitted(columns="abc", **params):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, len(columns))))
    X.columns = list(columns)
    return LinearDiscriminantProjection(**params).fit(X, np.arange(20) % 2)


def test_clones_may_be_merged():
    check_same_fit(fitted(), fitted())
    edges = fitted(slice_edges=[0.0])
    check_same_fit(fitted(), edges, free=("slice_edges",))
    with pytest.raises(ValueError, match="'slice_edges' is None here"):
        check_same_fit(fitted(), edges)


@pytest.mark.parametrize("columns", ["abd", "acb", "ab"])
def test_other_columns_are_refused(columns):
    with pytest.raises(ValueError, match="same columns in the same order"):
        check_same_fit(fitted(), fitted(columns))


def test_labels_of_two_types_are_refused():
    text, numbers = np.array(["a", "b"]), np.array([1, 2])
    check_same_labels("here", numbers, numbers.astype(float))
    check_same_labels("here", numbers / 2, numbers / 4)
    with pytest.raises(ValueError, match=r"numbers such as 0.5, .* classes such as 1"):
        check_same_labels("here", numbers, numbers / 2)
    check_same_labels("here", text, text.astype(object))
    for pair in ((text, numbers), (numbers, text.astype(object))):
        with pytest.raises(ValueError, match=r"here: .*str\(label\) for label in y"):
            check_same_labels("here", *pair)
