"""Twins, stitched pipelines and their life in scikit-learn."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Binarizer, StandardScaler

from skrep.datasets import load_mammals, make_parallel_spaces
from skrep.relative import RelativeRepresentation, stitch

A, B, Y = make_parallel_spaces(
    n_samples=300, n_classes=4, relation="similarity", random_state=0
)


def pipeline():
    return make_pipeline(
        RelativeRepresentation(24, random_state=0),
        StandardScaler(),
        LogisticRegression(max_iter=500),
    )


def test_the_twin_agrees_and_can_be_cloned():
    model = RelativeRepresentation(24, random_state=0).fit(A)
    twin = model.counterpart(B)
    np.testing.assert_allclose(twin.transform(B), model.transform(A), atol=1e-9)
    again = clone(twin).fit(B)
    np.testing.assert_array_equal(again.transform(B), twin.transform(B))
    assert model.anchors is None


def test_the_twin_of_a_twin_needs_anchors():
    model = RelativeRepresentation(24, random_state=0).fit(A)
    twin = model.counterpart(B)
    with pytest.raises(ValueError, match=r"counterpart\(X_other, anchors="):
        twin.counterpart(A)
    back = twin.counterpart(A, anchors=model.anchors_)
    np.testing.assert_allclose(back.transform(A), model.transform(A))


def test_given_partners_free_the_other_rows():
    model = RelativeRepresentation(24, random_state=0).fit(A)
    partners = B[model.anchor_indices_]
    twin = model.counterpart(np.random.default_rng(0).permutation(B), anchors=partners)
    np.testing.assert_allclose(twin.transform(B), model.transform(A), atol=1e-9)


def test_unpaired_rows_are_refused():
    model = RelativeRepresentation(24, random_state=0).fit(A)
    with pytest.raises(ValueError, match="pairing is by row"):
        model.counterpart(B[:-1])
    with pytest.raises(ValueError, match="one partner for each row"):
        model.counterpart(B, anchors=B[:3])


@pytest.mark.parametrize("labeled", [True, False])
def test_the_twin_keeps_the_names_of_its_columns(labeled):
    index = [f"thing {i}" for i in range(300)]
    first = pd.DataFrame(A, index=index) if labeled else A
    model = RelativeRepresentation(5, random_state=0).fit(first)
    for other in (B, pd.DataFrame(B, index=[f"other {i}" for i in range(300)])):
        twin = model.counterpart(other)
        assert list(twin.get_feature_names_out()) == list(model.get_feature_names_out())


def test_the_twin_takes_the_weights():
    weights = np.random.default_rng(0).integers(0, 3, 300)
    model = RelativeRepresentation(24, random_state=0).fit(A, sample_weight=weights)
    twin = model.counterpart(B, sample_weight=weights)
    np.testing.assert_allclose(twin.transform(B), model.transform(A), atol=1e-9)
    fitted = pipeline().fit(A, Y, relativerepresentation__sample_weight=weights)
    stitched = stitch(fitted, B, sample_weight=weights)
    np.testing.assert_allclose(
        stitched.predict_proba(B), fitted.predict_proba(A), atol=1e-7
    )


def test_given_positions_are_copied():
    positions = np.array([1, 2, 3])
    model = RelativeRepresentation(anchors=positions).fit(A)
    positions[:] = 0
    assert list(model.anchor_indices_) == [1, 2, 3]


def test_sparse_twin():
    S = sp.random(60, 30, 0.3, format="csr", random_state=0)
    model = RelativeRepresentation(8, random_state=0).fit(S)
    twin = model.counterpart(sp.csr_array(2 * S))
    np.testing.assert_allclose(twin.transform(2 * S), model.transform(S), atol=1e-9)


def test_a_stitched_pipeline_predicts_as_the_first():
    fitted = pipeline().fit(A, Y)
    before = fitted.predict_proba(A)
    stitched = stitch(fitted, B)
    np.testing.assert_allclose(stitched.predict_proba(B), before, atol=1e-7)
    np.testing.assert_array_equal(fitted.predict_proba(A), before)
    assert stitched.score(B, Y) == fitted.score(A, Y)


def test_settings_of_a_stitched_pipeline_stay_its_own():
    fitted = pipeline().fit(A, Y)
    stitch(fitted, B)[:-1].set_output(transform="pandas")
    assert isinstance(fitted[:-1].transform(A), np.ndarray)


def test_clone_and_fit_keep_a_stitched_pipeline():
    stitched = stitch(pipeline().fit(A, Y), B)
    copy = clone(stitched).fit(B[:10], Y[:10])
    np.testing.assert_array_equal(copy.predict_proba(B), stitched.predict_proba(B))


def test_idle_steps_stay():
    model = Pipeline(
        [
            ("rel", RelativeRepresentation(24, random_state=0)),
            ("idle", "passthrough"),
            ("head", LogisticRegression(max_iter=500)),
        ]
    ).fit(A, Y)
    stitched = stitch(model, B)
    assert stitched.named_steps["idle"] == "passthrough"
    np.testing.assert_array_equal(stitched.predict(B), model.predict(A))


def test_a_step_before_the_relative_one_is_refused_by_name():
    model = make_pipeline(
        StandardScaler(), RelativeRepresentation(24), LogisticRegression()
    )
    with pytest.raises(ValueError, match="'standardscaler', is a StandardScaler"):
        stitch(model.fit(A, Y), B)


def test_a_stitched_or_empty_pipeline_is_refused():
    stitched = stitch(pipeline().fit(A, Y), B)
    with pytest.raises(ValueError, match="stitch the original pipeline"):
        stitch(stitched, A)
    with pytest.raises(ValueError, match="the steps are"):
        stitch(Pipeline([]), A)


def test_only_pipelines_are_stitched():
    with pytest.raises(TypeError, match="make_pipeline"):
        stitch(RelativeRepresentation().fit(A), B)


@pytest.mark.filterwarnings("ignore::skrep.exceptions.FewerColumnsWarning")
def test_grid_search_with_cache_and_two_jobs(tmp_path):
    search = GridSearchCV(
        Pipeline(
            [
                ("rel", RelativeRepresentation(random_state=0)),
                ("head", LogisticRegression(max_iter=500)),
            ],
            memory=str(tmp_path),
        ),
        [
            {
                "rel__n_anchors": [8, 32],
                "rel__similarity": ["cosine", "euclidean", "rank"],
            },
            {"rel": ["passthrough"]},
        ],
        cv=3,
        n_jobs=2,
    ).fit(A, Y)
    scores = search.cv_results_["mean_test_score"]
    assert len(scores) == 7
    assert np.isfinite(scores).all()


def test_anchor_names_recipe():
    """LDIR: named, farthest-point anchors and binary codes."""
    mammals = load_mammals(as_frame=True)
    recipe = make_pipeline(
        RelativeRepresentation(
            50, selection="farthest", whiten=None, scale=False, top_k=5
        ),
        Binarizer(),
    ).fit(mammals.data)
    codes = recipe.transform(mammals.data)
    assert set(codes.data) <= {0.0, 1.0}
    assert set(recipe[0].get_feature_names_out()) <= set(mammals.names)
