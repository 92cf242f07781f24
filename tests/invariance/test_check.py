"""check_invariance: right claims hold, wrong claims are refuted, on scikit-learn."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import NMF, PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.manifold import MDS
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler

from skrep.invariance import Claim, check_invariance

IRIS, LABELS = load_iris(return_X_y=True)
# Unequal spreads, so that scale matters and no two components come close.
X = StandardScaler().fit_transform(IRIS)[:, :3] * [1.0, 3.0, 5.0] + [1.0, -2.0, 0.5]
NAMES = np.array(["setosa", "versicolor", "virginica"])[LABELS]
lda, eigen = (LinearDiscriminantAnalysis(solver=s) for s in ("svd", "eigen"))
nystroem = Nystroem(gamma=0.05, n_components=10, random_state=3)

TRUE = [
    (PCA(2), Claim("orthogonal", "up_to_sign")),
    (PCA(2), Claim("translation")),
    (PCA(2), Claim("positive_scaling", "same_action")),
    (PCA(2), Claim("row_permutation", "up_to_sign")),
    (PCA(), Claim("orthogonal", "same_distances")),
    (PCA(), Claim("invertible_affine", "same_span")),
    (PCA(2, whiten=True), Claim("positive_scaling")),
    # Through an SVD: the covariance would square the condition number, too much
    # for single precision.
    (
        PCA(whiten=True, svd_solver="full"),
        Claim("invertible_affine", "up_to_orthogonal"),
    ),
    (StandardScaler(), Claim("column_scaling")),
    (StandardScaler(), Claim("translation")),
    (StandardScaler(), Claim("sign_flip", "same_action")),
    (StandardScaler(), Claim("column_permutation", "same_action")),
    (StandardScaler(), Claim("row_permutation", "same_action")),
    (MaxAbsScaler(), Claim("column_scaling")),
    (Normalizer(), Claim("row_scaling")),
    (Normalizer(), Claim("row_scaling", refit=False)),
    (Normalizer(), Claim("orthogonal", "same_action")),
    (lda, Claim("invertible_affine", "up_to_sign")),
    (lda, Claim("label_permutation", "up_to_sign")),
    (eigen, Claim("invertible_linear", "up_to_sign")),
    (eigen, Claim("invertible_affine", "same_distances")),
    (nystroem, Claim("rotation")),
    (nystroem, Claim("orthogonal")),
    (nystroem, Claim("translation")),
    (KMeans(3, n_init=1), Claim("orthogonal")),
    (LogisticRegression(), Claim("label_permutation", "same_action")),
    (KNeighborsClassifier(), Claim("label_permutation", "same_action")),
    (LinearRegression(), Claim("invertible_affine")),
    (make_pipeline(StandardScaler(), Nystroem(n_components=5)), Claim("translation")),
]
FALSE = [
    (PCA(2), Claim("orthogonal", "unchanged")),
    (PCA(2), Claim("positive_scaling")),
    (PCA(2), Claim("column_scaling", "same_span")),
    (PCA(2, whiten=True), Claim("column_scaling", "up_to_sign")),
    (PCA(whiten=True), Claim("invertible_affine", "up_to_sign")),
    (TruncatedSVD(2, random_state=0), Claim("translation", "same_span")),
    (StandardScaler(), Claim("orthogonal", "same_action")),
    (StandardScaler(), Claim("orthogonal", "same_distances")),
    (StandardScaler(), Claim("column_permutation")),
    (StandardScaler(), Claim("sign_flip")),
    (StandardScaler(), Claim("positive_scaling", refit=False)),
    (StandardScaler(with_mean=False), Claim("translation")),
    (Normalizer(), Claim("column_scaling")),
    (Normalizer(), Claim("translation")),
    (lda, Claim("label_permutation")),
    (lda, Claim("row_scaling", "same_span")),
    # Its transform subtracts no mean: a shift of X shifts the output.
    (eigen, Claim("translation", "up_to_sign")),
    (nystroem, Claim("positive_scaling")),
    (nystroem, Claim("row_permutation", "same_action")),
    (Ridge(1.0), Claim("column_scaling")),
    (LogisticRegression(), Claim("label_permutation")),
    (LogisticRegression(), Claim("column_scaling")),
]


def name(value):
    return str(value) if isinstance(value, Claim) else repr(value)


@pytest.mark.parametrize(("estimator", "claim"), TRUE, ids=name)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_right_claims_hold(estimator, claim, dtype):
    report = check_invariance(estimator, claim, X.astype(dtype), LABELS)
    assert report.holds, report
    assert bool(report)


@pytest.mark.parametrize(("estimator", "claim"), FALSE, ids=name)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_wrong_claims_are_refuted(estimator, claim, dtype):
    report = check_invariance(estimator, claim, X.astype(dtype), LABELS)
    assert not report.holds, report
    assert not bool(report)


def test_a_small_penalty_is_seen_in_double_precision():
    claim = Claim("positive_scaling")
    assert check_invariance(LinearRegression(), claim, X, LABELS).holds
    assert not check_invariance(Ridge(1e-4), claim, X, LABELS).holds


def test_the_report_names_the_draw_that_did_most():
    report = check_invariance(PCA(2), Claim("sign_flip"), X, n_draws=8)
    moved, _ = report.draw.apply(X)
    found = PCA(2).fit(moved).transform(moved) - PCA(2).fit(X).transform(X)
    rms = np.sqrt(np.mean(PCA(2).fit(X).transform(X) ** 2))
    assert report.deviation == pytest.approx(np.abs(found).max() / rms)
    text = repr(report)
    for part in ("PCA.transform", "unchanged under sign_flip", "broken", "columns"):
        assert part in text


def test_more_draws_find_no_less():
    claim = Claim("column_scaling", "same_span")
    found = [check_invariance(PCA(1), claim, X, n_draws=n) for n in (1, 3, 9)]
    assert found[0].deviation <= found[1].deviation <= found[2].deviation


def test_the_tolerance_follows_the_coarser_type_or_the_caller():
    claim = Claim("translation")

    def check(data, **options):
        return check_invariance(StandardScaler(), claim, data, **options)

    double, single = (np.sqrt(np.finfo(t).eps) for t in (np.float64, np.float32))
    assert check(X).tolerance == pytest.approx(double)
    assert check(np.arange(12).reshape(6, 2)).tolerance == pytest.approx(double)
    assert check(X.astype(np.float32)).tolerance == pytest.approx(single)
    frame = pd.DataFrame(X.astype(np.float32))
    assert check(frame).tolerance == pytest.approx(single)
    assert check(X).holds
    assert not check(X, tol=0.0).holds
    wrong = Claim("rotation", "same_distances")
    assert check_invariance(StandardScaler(), wrong, X, tol=100.0).holds


@pytest.mark.parametrize("refit", [True, False])
def test_nothing_given_is_changed(refit):
    data, labels = X.copy(), LABELS.copy()
    scaler = StandardScaler(copy=False)
    report = check_invariance(
        scaler, Claim("positive_scaling", refit=refit), data, labels
    )
    assert report.holds is refit
    assert_array_equal(data, X)
    assert_array_equal(labels, LABELS)
    assert not hasattr(scaler, "mean_")
    # This one writes while it fits.
    check_invariance(PCA(2, copy=False, svd_solver="full"), Claim("translation"), data)
    assert_array_equal(data, X)
    data.setflags(write=False)
    assert check_invariance(scaler, Claim("positive_scaling"), data).holds


def test_the_global_random_state_is_untouched():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    check_invariance(Nystroem(n_components=5), Claim("rotation"), X)
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_open_seeds_are_the_same_for_both_fits():
    class Mixer(TransformerMixin, BaseEstimator):
        def __init__(self, random_state=None):
            self.random_state = random_state

        def fit(self, X, y=None):
            rng = np.random.default_rng(self.random_state)
            self.matrix_ = rng.normal(size=(X.shape[1], 2))
            return self

        def transform(self, X):
            return (X - X.mean(axis=0)) @ self.matrix_

    claim = Claim("translation")
    for estimator in (Mixer(), make_pipeline(Mixer()), Mixer(3)):
        assert check_invariance(estimator, claim, X).holds
    own = check_invariance(Mixer(3), Claim("sign_flip"), X, random_state=1)
    again = check_invariance(Mixer(3), Claim("sign_flip"), X, random_state=1)
    assert own.deviation == again.deviation


@pytest.mark.parametrize(
    ("estimator", "method", "claim"),
    [
        (PCA(2), "explained_variance_", Claim("orthogonal")),
        (PCA(2), "components_", Claim("translation")),
        (PCA(2), "mean_", Claim("row_permutation")),
        (LogisticRegression(), "predict", Claim("label_permutation", "same_action")),
        (lda, "predict", Claim("invertible_affine")),
        (lda, "decision_function", Claim("label_permutation", "same_action")),
    ],
)
def test_any_output_can_be_chosen(estimator, method, claim):
    report = check_invariance(estimator, claim, X, NAMES, method=method)
    assert report.method == method
    assert report.holds, report


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        (KMeans(3, n_init=1), "transform"),
        (LogisticRegression(), "predict_proba"),
        (LinearRegression(), "predict"),
        (RandomForestClassifier(5), "predict_proba"),
        (MDS(2, n_init=1, max_iter=5, init="classical_mds"), "embedding_"),
    ],
)
def test_the_first_output_there_is(estimator, method):
    report = check_invariance(
        estimator, Claim("positive_scaling"), X[::5], LABELS[::5], n_draws=1
    )
    assert report.method == method


def test_relabelled_nodes_keep_their_places():
    distances = np.abs(X[:12, :1] - X[:12, 0]) + np.abs(X[:12, 2:] - X[:12, 2])
    mds = MDS(
        2, metric="precomputed", n_init=1, init="classical_mds", normalized_stress=False
    )
    assert check_invariance(
        mds, Claim("tree_relabelling", "same_distances"), distances, tol=1e-3
    ).holds
    assert not check_invariance(mds, Claim("tree_relabelling"), distances).holds


def test_weights_move_with_their_rows():
    weights = np.linspace(0.1, 3.0, len(X)) ** 2
    claim = Claim("row_permutation", "same_action")
    for given in (weights, list(weights), pd.Series(weights)):
        report = check_invariance(
            StandardScaler(), claim, X, fit_params={"sample_weight": given}
        )
        assert report.holds, report
    assert check_invariance(
        make_pipeline(StandardScaler()),
        claim,
        X,
        fit_params={"standardscaler__sample_weight": weights},
    ).holds


def test_frames_and_sparse_matrices():
    frame = pd.DataFrame(X, columns=list("abc"))
    labels = pd.Series(NAMES, dtype="category")
    assert check_invariance(PCA(2), Claim("orthogonal", "up_to_sign"), frame).holds
    assert check_invariance(
        lda, Claim("label_permutation", "up_to_sign"), frame, labels
    )
    scaler = StandardScaler().set_output(transform="pandas")
    permuted = Claim("column_permutation", "same_action")
    assert check_invariance(scaler, permuted, frame).holds
    sparse = sp.csr_array(np.where(X > 0, X, 0))
    assert check_invariance(MaxAbsScaler(), Claim("column_scaling"), sparse).holds
    assert not check_invariance(MaxAbsScaler(), Claim("sign_flip"), sparse).holds
    with pytest.raises(TypeError, match=r"Pass X\.toarray\(\)"):
        check_invariance(MaxAbsScaler(), Claim("translation"), sparse)


def test_lists_are_taken():
    assert check_invariance(StandardScaler(), Claim("translation"), X.tolist()).holds


@pytest.mark.parametrize(
    ("error", "match", "change"),
    [
        (ValueError, "LinearDiscriminantAnalysis needs y to fit", {"y": None}),
        (TypeError, "'claim' is 'rotation'", {"claim": "rotation"}),
        (ValueError, "'n_draws' is 0", {"n_draws": 0}),
        (ValueError, "'tol' is -1", {"tol": -1}),
        (TypeError, "has no embed after fit", {"method": "embed"}),
        (
            ValueError,
            "refit=False",
            {"method": "means_", "claim": Claim("rotation", refit=False)},
        ),
    ],
)
def test_bad_calls_say_so_in_one_line(error, match, change):
    call = {"estimator": lda, "claim": Claim("rotation"), "X": X, "y": LABELS}
    with pytest.raises(error, match=match) as caught:
        check_invariance(**(call | change))
    assert "\n" not in str(caught.value)


def test_unused_labels_must_be_there_to_be_renamed():
    with pytest.raises(ValueError, match="'y' is None"):
        check_invariance(PCA(2), Claim("label_permutation"), X)


def test_an_error_of_the_estimator_names_the_draw():
    with pytest.raises(ValueError, match="Negative values") as caught:
        check_invariance(NMF(2), Claim("sign_flip"), np.abs(X))
    assert "<sign_flip: columns times" in caught.value.__notes__[0]


def test_an_output_of_zeros_has_nothing_to_measure():
    with pytest.raises(ValueError, match="Pass an X on which the output varies"):
        check_invariance(StandardScaler(), Claim("translation"), np.ones((9, 3)))
