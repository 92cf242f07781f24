"""What do losses of class separation fail at?

    python benchmarks/discriminant_failures.py [--splits 5] [--first-seed 400]

Every loss of the guide's table, in the same network and training:
`DiscriminantEncoder` at its defaults, but for `loss`, on scikit-learn's digits in 2 and
in 9 columns, with one stratified 70/30 split per seed. Score: accuracy of 5 nearest
neighbors on the test rows, in %. Effective rank: of the 9 columns as the network gives
them, before its head scales them, over the training rows; a value near 1 says that they
lie on a line.

Then the same losses behind a linear map of the wine data (standardized, 2 columns,
L-BFGS, no ridge): the largest angle to linear discriminant analysis, in degrees.
"""

import argparse
import warnings
from statistics import fmean, stdev

import numpy as np
from _report import Report
from discriminant_quality import linear_optimum
from sklearn.datasets import load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale

from skrep.discriminant import DiscriminantEncoder
from skrep.exceptions import FewerColumnsWarning
from skrep.metrics import effective_rank, principal_angles
from skrep.nn import losses

LOSSES = {
    "BhattacharyyaLoss()": losses.BhattacharyyaLoss(),
    "BhattacharyyaLoss(power=0)": losses.BhattacharyyaLoss(power=0),
    "BhattacharyyaLoss(power=1)": losses.BhattacharyyaLoss(power=1),
    "LDACrossEntropy()": losses.LDACrossEntropy(),
    "LogDetLoss()": losses.LogDetLoss(),
    "DeepLDALoss()": losses.DeepLDALoss(),
    "DDALoss()": losses.DDALoss(),
    "FisherTraceLoss()": losses.FisherTraceLoss(),
    "TraceRatioLoss()": losses.TraceRatioLoss(),
}
LINEAR = {
    "LogDetLoss": losses.LogDetLoss(ridge=0.0),
    "FisherTraceLoss": losses.FisherTraceLoss(ridge=0.0),
    "DeepLDALoss": losses.DeepLDALoss(ridge=0.0),
    "TraceRatioLoss": losses.TraceRatioLoss(),
}


def score(loss: object, k: int, seed: int) -> tuple[float, float]:
    """Accuracy on test rows, and effective rank of the network's columns."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(
        X.astype(np.float32), y, test_size=0.3, stratify=y, random_state=seed
    )
    model = DiscriminantEncoder(k, loss=loss, random_state=seed)
    with warnings.catch_warnings():
        # That columns are lost is what is measured.
        warnings.simplefilter("ignore", FewerColumnsWarning)
        model.fit(X, y)
    Z = model.transform(X)
    found = KNeighborsClassifier(5).fit(Z, y).score(model.transform(X_test), y_test)
    raw = Z.astype(np.float64) @ np.linalg.pinv(model._head[0].astype(np.float64))
    return 100 * found, effective_rank(raw)


def shown(values: list[float], digits: int) -> str:
    """Mean and standard deviation."""
    return f"{fmean(values):.{digits}f} ({stdev(values):.{digits}f})"


def angle(loss: object) -> float:
    """Largest angle between the optimum of a linear map and LDA, in degrees."""
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    axes = linear_optimum(loss, X, y, 2)
    reference = LinearDiscriminantAnalysis().fit(X, y).scalings_[:, :2]
    # Columns along one line have no second angle: a right one stands for it.
    if np.linalg.matrix_rank(axes, tol=1e-3 * np.abs(axes).max()) < 2:
        return 90.0
    return float(np.rad2deg(principal_angles(axes.T, reference.T)[-1]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=400)
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.splits)
    with Report("discriminant_failures") as report:
        rows = []
        for name, loss in LOSSES.items():
            few, many = (
                np.transpose([score(loss, k, seed) for seed in seeds]).tolist()
                for k in (2, 9)
            )
            rows.append([name, shown(few[0], 1), shown(many[0], 1), shown(many[1], 1)])
        report.table(
            f"Digits: mean (sd) over {options.splits} splits, seeds from {seeds[0]}",
            ["loss", "5-NN, k=2", "5-NN, k=9", "effective rank, k=9"],
            rows,
        )
        report.table(
            "A linear map on wine, k=2: largest angle to scikit-learn's LDA",
            ["loss", "degrees"],
            [[name, f"{angle(loss):.2g}"] for name, loss in LINEAR.items()],
        )
