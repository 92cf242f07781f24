"""What do the other members of the discriminant family do, beside what one would use?

    python benchmarks/discriminant_members.py [--splits 5] [--first-seed 400]

All on scikit-learn's digits, with one stratified 70/30 split per seed; the score is
accuracy on the test rows, in %.

- `DistractorRemoval`: images of two scanners, one with a lamp that fades from left to
  right. Nine in ten of the fitted images of the digits 0 to 4 are of one, and of the
  others one in ten; test images are of either. Beside it: the rows as they are, and the
  rows less their projection on the direction of linear discriminant analysis for the
  scanner. Read by logistic regression.
- `SimplexCode` of ten clusters, without labels, read by logistic regression and by 5
  neighbors. Beside it: the posterior of the same mixture, distances to ten centers of
  k-means, and nine principal components.
- `SimplexClassifier`: digits 0 to 6 first, then 7, 8, 9 one at a time without old rows.
  Neighbors among features that were stored before, asked by features of the grown
  model, and by those of a model of another seed. Beside it: the last hidden layer of
  scikit-learn's MLPClassifier, refitted with all rows, of the same and another seed.
"""

import argparse
import warnings
from statistics import fmean, stdev

import numpy as np
from _report import Report
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrep.discriminant import DistractorRemoval, SimplexClassifier, SimplexCode
from skrep.utils.mlp import mlp_forward

X, DIGIT = load_digits(return_X_y=True)
Scores = dict[str, list[float]]


def split(seed: int) -> tuple[np.ndarray, ...]:
    return train_test_split(X, DIGIT, test_size=0.3, stratify=DIGIT, random_state=seed)


def logistic(Z: np.ndarray, y: np.ndarray, Z_test: np.ndarray, truth: np.ndarray):
    head = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    return 100 * head.fit(Z, y).score(Z_test, truth)


def neighbors(Z: np.ndarray, y: np.ndarray, Z_test: np.ndarray, truth: np.ndarray):
    return 100 * KNeighborsClassifier(5).fit(Z, y).score(Z_test, truth)


def scanners(seed: int) -> dict[str, tuple[float, float]]:
    rng = np.random.default_rng(seed)
    rows, test, y, truth = split(seed)
    light = np.repeat(np.linspace(6, -6, 8), 8)
    one = (rng.random(len(rows)) < np.where(y < 5, 0.9, 0.1)).astype(int)
    two = rng.integers(0, 2, len(test))
    rows, test = (
        part + np.outer(scanner, light) + rng.normal(size=part.shape)
        for part, scanner in ((rows, one), (test, two))
    )
    axis = LinearDiscriminantAnalysis().fit(rows, one).coef_[0]
    axis /= np.linalg.norm(axis)
    views = {
        "as they are": (rows, test),
        "less the axis of LDA": tuple(
            Z - np.outer(Z @ axis, axis) for Z in (rows, test)
        ),
    }
    for name, target in (("", None), (", with y", y)):
        model = DistractorRemoval().fit(rows, target, nuisance=one)
        views[f"DistractorRemoval{name}"] = model.transform(rows), model.transform(test)
    return {
        name: (logistic(A, one, B, two), logistic(A, y, B, truth))
        for name, (A, B) in views.items()
    }


def codes(seed: int) -> dict[str, tuple[float, float]]:
    rows, test, y, truth = split(seed)
    code = SimplexCode(10, random_state=seed).fit(rows)
    A, B = code.transform(rows), code.transform(test)
    means = KMeans(10, n_init=3, random_state=seed).fit(rows)
    axes = PCA(9, random_state=seed).fit(rows)
    views = {
        "SimplexCode": (A, B),
        "the posterior itself": (code.posterior(A), code.posterior(B)),
        "distances to k-means": (means.transform(rows), means.transform(test)),
        "principal components": (axes.transform(rows), axes.transform(test)),
    }
    return {
        name: (logistic(A, y, B, truth), neighbors(A, y, B, truth))
        for name, (A, B) in views.items()
    }


def growth(seed: int) -> dict[str, tuple[float, float]]:
    rows, test, y, truth = split(seed)
    old, asked = y < 7, truth < 7
    model = SimplexClassifier(n_reserved=3, random_state=seed).fit(rows[old], y[old])
    stored = model.transform(rows[old])
    for digit in (7, 8, 9):
        model.partial_fit(rows[y == digit], y[y == digit])
    apart = SimplexClassifier(random_state=seed + 1000).fit(rows, y)
    found = [
        neighbors(stored, y[old], other.transform(test[asked]), truth[asked])
        for other in (model, apart)
    ]
    scaler = StandardScaler().fit(rows)

    def hidden(seed: int, kept: np.ndarray):
        net = MLPClassifier((64, 64), max_iter=150, random_state=seed)
        with warnings.catch_warnings():
            # 150 epochs, as those of SimplexClassifier.
            warnings.simplefilter("ignore", ConvergenceWarning)
            net.fit(scaler.transform(rows[kept]), y[kept])
        return lambda Z: np.maximum(
            mlp_forward(scaler.transform(Z), net.coefs_[:-1], net.intercepts_[:-1]), 0
        )

    first = hidden(seed, old)(rows[old])
    peers = [
        neighbors(first, y[old], hidden(other, y >= 0)(test[asked]), truth[asked])
        for other in (seed, seed + 1000)
    ]
    return {
        "SimplexClassifier": (found[0], found[1]),
        "MLPClassifier, last hidden layer": (peers[0], peers[1]),
    }


def table(report: Report, title: str, head: list[str], one, seeds: range) -> None:
    """Mean and standard deviation of every score over the seeds."""
    runs = [one(seed) for seed in seeds]
    body = []
    for name in runs[0]:
        columns = zip(*(run[name] for run in runs), strict=True)
        body.append([name, *(f"{fmean(c):.1f} ({stdev(c):.1f})" for c in columns)])
    report.table(title, head, body)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=400)
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.splits)
    with Report("discriminant_members") as report:
        report.write(f"{options.splits} splits, seeds from {seeds[0]}; mean (sd)")
        table(
            report,
            "Digits of two scanners, logistic: the scanner (chance 50), and the digit",
            ["rows", "scanner", "digit"],
            scanners,
            seeds,
        )
        table(
            report,
            "Ten soft clusters, without labels: the digit",
            ["columns", "logistic", "5-NN"],
            codes,
            seeds,
        )
        table(
            report,
            "Old digits found by stored features after new classes came, 5-NN",
            ["features", "grown or refitted, same seed", "another seed"],
            growth,
            seeds,
        )
