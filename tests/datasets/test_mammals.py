import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skrep.datasets import load_mammals
from skrep.metrics import mean_reciprocal_rank

WIDTHS = {"minilm": 384, "e5": 384, "wordllama": 256}
NOTICE = "WordNet 3.1 Copyright 2011 by Princeton University. All rights reserved."


@pytest.fixture(scope="module")
def mammals():
    return load_mammals()


@pytest.mark.parametrize("encoder", WIDTHS)
@pytest.mark.parametrize("text", ["gloss", "lemma"])
def test_data_are_the_vectors_asked_for(encoder, text):
    bunch = load_mammals(encoder=encoder, text=text)
    assert bunch.data.shape == (1170, WIDTHS[encoder])
    assert bunch.data.dtype == np.float32
    assert_array_equal(bunch.data, bunch[text][encoder])
    assert bunch.feature_names[0] == f"{encoder}0"
    assert len(bunch.feature_names) == WIDTHS[encoder]
    assert_allclose(np.linalg.norm(bunch.data, axis=1), 1, atol=2e-3)


def test_default_is_the_minilm_gloss(mammals):
    assert_array_equal(mammals.data, mammals.gloss["minilm"])
    assert mammals.frame is None
    assert set(mammals.gloss) == set(mammals.lemma) == set(WIDTHS)


def test_rows_are_aligned_across_texts_and_encoders(mammals):
    # Rows in random order would score 0.006.
    for encoder in WIDTHS:
        score = mean_reciprocal_rank(mammals.lemma[encoder], mammals.gloss[encoder])
        assert score > 0.2
    two = [mammals.gloss[name] @ mammals.gloss[name].T for name in ("minilm", "e5")]
    assert np.corrcoef(two[0].ravel(), two[1].ravel())[0, 1] > 0.4


def test_types_and_names(mammals):
    assert mammals.target.dtype == mammals.edges.dtype == mammals.depth.dtype == "int64"
    assert mammals.target.shape == mammals.depth.shape == mammals.names.shape == (1170,)
    assert mammals.names.dtype.kind == mammals.target_names.dtype.kind == "U"
    assert_array_equal(mammals.names, np.unique(mammals.names))
    assert_array_equal(mammals.target_names, np.unique(mammals.target_names))
    assert_array_equal(np.unique(mammals.target), np.arange(35))


def test_return_x_y(mammals):
    data, target = load_mammals(return_X_y=True)
    assert_array_equal(data, mammals.data)
    assert_array_equal(target, mammals.target)


def test_writing_to_data_leaves_the_encoders_alone():
    bunch = load_mammals()
    bunch.data[:] = 0
    assert bunch.gloss["minilm"].any()
    assert load_mammals().data.any()


def test_as_frame(mammals):
    pd = pytest.importorskip("pandas")
    bunch = load_mammals(as_frame=True)
    assert isinstance(bunch.data, pd.DataFrame)
    assert isinstance(bunch.target, pd.Series)
    assert bunch.target.name == "target"
    assert all(isinstance(name, str) for name in bunch.data.index)
    for part in (bunch.data, bunch.target, bunch.frame):
        assert_array_equal(part.index.to_numpy(dtype=str), mammals.names)
    assert list(bunch.frame.columns) == [*bunch.feature_names, "target"]
    assert_array_equal(bunch.data.to_numpy(), mammals.data)
    assert set(bunch.data.dtypes) == {np.dtype("float32")}
    assert_array_equal(bunch.frame["target"].to_numpy(), mammals.target)
    assert isinstance(bunch.edges, np.ndarray)
    data, target = load_mammals(as_frame=True, return_X_y=True)
    pd.testing.assert_frame_equal(data, bunch.data)
    pd.testing.assert_series_equal(target, bunch.target)


def test_as_frame_without_pandas_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install 'pandas'"):
        load_mammals(as_frame=True)
    assert load_mammals().data.shape == (1170, 384)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("encoder", "bert"), ("text", "name"), ("return_X_y", 2), ("as_frame", "pandas")],
)
def test_bad_parameters(parameter, value):
    match = f"The '{parameter}' parameter of load_mammals must be .* Got {value!r}"
    with pytest.raises(ValueError, match=match):
        load_mammals(**{parameter: value})


def test_description_holds_the_notice_and_the_counts(mammals):
    assert NOTICE in mammals.DESCR
    text = " ".join(mammals.DESCR.split())
    counts = np.bincount(mammals.target)
    for name, count in zip(mammals.target_names, counts, strict=True):
        assert count == 1 or f"{name} ({count})" in text
    assert f"{np.sum(counts == 1)} classes of one row" in text
    assert f"depth at most {mammals.depth.max()}" in text
