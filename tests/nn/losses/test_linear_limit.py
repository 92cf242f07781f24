"""Behind a linear map the smooth losses find linear discriminant analysis."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import scale

from skrep.metrics import principal_angles
from skrep.nn.losses import FisherTraceLoss, LogDetLoss, TraceRatioLoss


def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


def digits():
    X, y = load_digits(return_X_y=True)
    return scale(PCA(30, svd_solver="full").fit_transform(X)), y


def axes_of_least_loss(loss, X, y, k):
    """Columns of a linear map, by L-BFGS from a random start."""
    rows, codes = torch.tensor(X), torch.tensor(y)
    start = np.random.default_rng(0).normal(size=(X.shape[1], k))
    axes = torch.tensor(start, requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [axes],
        max_iter=1500,
        max_eval=3000,
        history_size=50,
        tolerance_grad=1e-11,
        tolerance_change=1e-16,
        line_search_fn="strong_wolfe",
    )

    def closure():
        optimizer.zero_grad()
        result = loss(rows @ axes, codes)
        result.backward()
        return result

    optimizer.step(closure)
    return axes.detach().numpy()


def largest_angle(axes, X, y):
    """To the leading axes of scikit-learn, in degrees."""
    lda = LinearDiscriminantAnalysis().fit(X, y)
    reference = lda.scalings_[:, : axes.shape[1]]
    return np.rad2deg(principal_angles(axes.T, reference.T)[-1])


@pytest.mark.parametrize("loss", [FisherTraceLoss, LogDetLoss])
@pytest.mark.parametrize(
    ("data", "k"), [(wine, 1), (wine, 2), (digits, 2), (digits, 9)]
)
def test_the_optimum_is_the_subspace_of_lda(loss, data, k):
    X, y = data()
    axes = axes_of_least_loss(loss(ridge=0.0), X, y, k)
    assert largest_angle(axes, X, y) <= 1e-3


def test_the_trace_ratio_is_of_rank_1():
    X, y = wine()
    axes = axes_of_least_loss(TraceRatioLoss(), X, y, 2)
    sizes = np.linalg.svd(axes, compute_uv=False)
    assert sizes[1] <= 1e-3 * sizes[0]
