import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression

from skrep.datasets import make_parallel_spaces
from skrep.metrics import mean_reciprocal_rank, stitching_scores


def case(seed=0, noise=0.5):
    """Fitted heads and test rows of two noisy spaces."""
    X, Y, labels = make_parallel_spaces(
        120, 6, n_classes=3, relation="translation", noise=noise, random_state=seed
    )
    common = Y - Y.mean(axis=0) + X.mean(axis=0)
    head = LogisticRegression(max_iter=1000).fit(X[:60], labels[:60])
    other = LogisticRegression(max_iter=1000).fit(Y[:60, :4], labels[:60])
    return head, X[60:], common[60:], labels[60:], other, Y[60:, :4]


@given(seed=st.integers(0, 1000), weighted=st.booleans())
@settings(max_examples=20, deadline=None)
def test_equals_loops(seed, weighted):
    head, own, stitched, y, other_head, other = case(seed)
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, len(y)) if weighted else np.ones(len(y))
    scores = stitching_scores(
        head,
        own,
        stitched,
        y,
        other_head=other_head,
        X_other=other,
        sample_weight=weights if weighted else None,
    )

    def accuracy(classifier, rows):
        right = 0.0
        for row, label, weight in zip(rows, y, weights, strict=True):
            right += weight * (classifier.predict(row[None])[0] == label)
        return right / weights.sum()

    assert list(scores) == ["own", "stitched", "mrr", "ceiling", "floor"]
    assert all(type(value) is float and 0 <= value <= 1 for value in scores.values())
    assert_allclose(scores["own"], accuracy(head, own))
    assert_allclose(scores["stitched"], accuracy(head, stitched))
    assert_allclose(scores["ceiling"], accuracy(other_head, other))
    shares = [weights[y == label].sum() / weights.sum() for label in set(y)]
    assert_allclose(scores["floor"], max(shares))
    mrr = mean_reciprocal_rank(stitched, own, sample_weight=weights)
    assert_allclose(scores["mrr"], mrr)


def test_rows_seen_through_an_equal_space_score_as_at_home():
    head, own, _, y, _, _ = case()
    scores = stitching_scores(head, own, own, y)
    assert list(scores) == ["own", "stitched", "mrr", "floor"]
    assert scores["own"] == scores["stitched"]
    assert scores["mrr"] == 1.0


def test_queries_are_the_stitched_rows():
    head, own, stitched, y, _, _ = case(noise=2.0)
    forth = mean_reciprocal_rank(stitched, own)
    assert forth != mean_reciprocal_rank(own, stitched)
    assert stitching_scores(head, own, stitched, y)["mrr"] == forth


def test_metric_is_passed_on():
    head, own, stitched, y, _, _ = case()
    found = stitching_scores(head, own, 3 * stitched, y, metric="euclidean")["mrr"]
    assert found == mean_reciprocal_rank(3 * stitched, own, metric="euclidean")
    assert found != mean_reciprocal_rank(3 * stitched, own)


def test_floor_is_what_a_constant_head_scores():
    _, own, stitched, y, _, _ = case()
    names = np.array(["one", "two", "two"])[y]
    constant = DummyClassifier(strategy="most_frequent").fit(own, names)
    scores = stitching_scores(constant, own, stitched, names)
    assert scores["floor"] == scores["own"] == scores["stitched"] == np.mean(y > 0)


def test_a_head_fitted_on_a_frame_sees_its_columns():
    pd = pytest.importorskip("pandas")
    _, own, stitched, y, _, _ = case()
    frames = [pd.DataFrame(rows).add_prefix("x") for rows in (own, stitched)]
    named = LogisticRegression(max_iter=1000).fit(frames[0], y)
    plain = LogisticRegression(max_iter=1000).fit(own, y)
    assert stitching_scores(named, *frames, pd.Series(y)) == (
        stitching_scores(plain, own, stitched, y)
    )


def test_errors_name_parameter_rule_and_remedy():
    head, own, stitched, y, other_head, other = case()
    with pytest.raises(ValueError, match=r"'X_stitched' has shape .* map one space"):
        stitching_scores(head, own, stitched[:, :2], y)
    with pytest.raises(ValueError, match="'y' has 59 rows and 'X_own' has 60"):
        stitching_scores(head, own, stitched, y[1:])
    with pytest.raises(ValueError, match="Select the same rows of 'X_other'"):
        stitching_scores(
            head, own, stitched, y, other_head=other_head, X_other=other[1:]
        )
    with pytest.raises(ValueError, match="pass X_other too, or leave both out"):
        stitching_scores(head, own, stitched, y, other_head=other_head)
    with pytest.raises(ValueError, match="pass other_head too, or leave both out"):
        stitching_scores(head, own, stitched, y, X_other=other)
    with pytest.raises(ValueError, match="'sample_weight' has shape"):
        stitching_scores(head, own, stitched, y, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="'metric' parameter"):
        stitching_scores(head, own, stitched, y, metric="dot")
    regressor = LinearRegression().fit(own, y)
    with pytest.raises(TypeError, match="'head' is a LinearRegression"):
        stitching_scores(regressor, own, stitched, y)
    with pytest.raises(TypeError, match=r"'other_head' is a str.*fitted classifier"):
        stitching_scores(head, own, stitched, y, other_head="head", X_other=other)
    with pytest.raises(NotFittedError):
        stitching_scores(LogisticRegression(), own, stitched, y)
