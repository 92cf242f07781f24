"""Without labels: are a few directions of the digits worth as much as PCA's?

    python benchmarks/index_digits.py [--splits 5]

The comparison of Tian, Wu and Feng (2025) on scikit-learn's digits: 8 x 8 pixels are
brought to 2 to 20 columns without labels, then a decoder gives the pixels back and a
classifier tells the digits. Stratified splits of 70 / 30; all is learned on the train
rows, and pixels that are constant there are left out. Codes of every way are
standardized, and the same follows on each:

- *reconstruction*: share of the variance of the test pixels that a decoder explains; an
  RBF kernel ridge, its width and ridge by 3-fold search on the train rows, and the
  5 nearest neighbors.
- *accuracy*: 5-NN and logistic regression on the test rows.

`SteinIndex()` without y is the denoising form. With the Gaussian score it is PCA up to
the scale of the columns, so it must tie; with a mixture, orders one and two differ. The
autoencoder has layers of 128 and the code between them, is trained on the pixels by
Adam, and is decoded by the common decoders and by its own.
"""

import argparse
import warnings
from collections.abc import Sequence

import numpy as np
from _report import Report
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler

from skrep.index_model import SteinIndex

SIZES = (2, 3, 5, 8, 12, 16, 20)
EPOCHS = 300
NETWORK = "autoencoder"
OWN = "autoencoder, own decoder"
WAYS = {
    "PCA": lambda k, seed: PCA(k),
    "SteinIndex()": lambda k, seed: SteinIndex(k),
    "... mixture": lambda k, seed: SteinIndex(
        k, score_model="mixture", random_state=seed
    ),
    "... mixture, order=1": lambda k, seed: SteinIndex(
        k, order=1, score_model="mixture", random_state=seed
    ),
}
SCORES = ("kernel ridge R2", "5-NN R2", "5-NN accuracy", "logistic accuracy")


def network_codes(
    train: np.ndarray, test: np.ndarray, size: int, seed: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Codes of an autoencoder, and what its own decoder explains."""
    layers = (128, size, 128)
    model = MLPRegressor(
        hidden_layer_sizes=layers,
        activation="tanh",
        learning_rate_init=2e-3,
        max_iter=EPOCHS,
        n_iter_no_change=EPOCHS,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train, train)

    def encode(rows: np.ndarray) -> np.ndarray:
        hidden = np.tanh(rows @ model.coefs_[0] + model.intercepts_[0])
        return np.tanh(hidden @ model.coefs_[1] + model.intercepts_[1])

    return encode(train), encode(test), explained(model.predict(test), test, train)


def explained(guess: np.ndarray, test: np.ndarray, train: np.ndarray) -> float:
    base = np.mean((test - train.mean(axis=0)) ** 2)
    return 1 - np.mean((test - guess) ** 2) / base


def cell(
    codes: Sequence[np.ndarray],
    pixels: tuple[np.ndarray, np.ndarray],
    digits: Sequence[np.ndarray],
) -> list[float]:
    """Scores of the common decoders and classifiers."""
    scaler = StandardScaler().fit(codes[0])
    A, B = scaler.transform(codes[0]), scaler.transform(codes[1])
    train, test = pixels
    mean = train.mean(axis=0)
    grid = {"gamma": np.array([0.1, 0.3, 1.0]) / A.shape[1], "alpha": [1e-2, 1e-1]}
    ridge = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=3).fit(A, train - mean)
    near = KNeighborsRegressor(5, weights="distance").fit(A, train)
    logistic = LogisticRegression(max_iter=1000).fit(A, digits[0])
    neighbors = KNeighborsClassifier(5).fit(A, digits[0])
    return [
        explained(ridge.predict(B) + mean, test, train),
        explained(near.predict(B), test, train),
        neighbors.score(B, digits[1]),
        logistic.score(B, digits[1]),
    ]


def measure(n_splits: int) -> dict[str, np.ndarray]:
    """Scores by way: splits x sizes x scores."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    found: dict[str, list] = {}
    for seed in range(n_splits):
        train, test, *digits = train_test_split(
            X, y, test_size=0.3, stratify=y, random_state=seed
        )
        varying = np.ptp(train, axis=0) > 0
        train, test = train[:, varying], test[:, varying]
        table: dict[str, list] = {}
        fitted = {way: make(max(SIZES), seed).fit(train) for way, make in WAYS.items()}
        for size in SIZES:
            for way, model in fitted.items():
                codes = [model.transform(rows)[:, :size] for rows in (train, test)]
                table.setdefault(way, []).append(cell(codes, (train, test), digits))
            *codes, own = network_codes(train, test, size, seed)
            row = cell(codes, (train, test), digits)
            table.setdefault(NETWORK, []).append(row)
            table.setdefault(OWN, []).append([own, np.nan, np.nan, np.nan])
        for way, rows in table.items():
            found.setdefault(way, []).append(rows)
    return {way: np.array(values) for way, values in found.items()}


def write(found: dict[str, np.ndarray], report: Report) -> None:
    heads = [f"k = {k}" for k in SIZES]
    for j, score in enumerate(SCORES):
        body = []
        for way, values in found.items():
            means = values[..., j].mean(axis=0)
            if not np.isnan(means).any():
                body.append([way, *(f"{v:.3f}" for v in means)])
        report.table(f"{score}, mean of splits", ["way", *heads], body)
    gains = {way: values - found["PCA"] for way, values in found.items()}
    for j, score in enumerate(SCORES):
        body = []
        for way, values in gains.items():
            gain = values[..., j]
            if way == "PCA" or np.isnan(gain).any():
                continue
            errors = gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
            cells = zip(gain.mean(axis=0), errors, strict=True)
            body.append([way, *(f"{m:+.3f} ({e:.3f})" for m, e in cells)])
        report.table(
            f"{score} minus that of PCA (standard error)", ["way", *heads], body
        )
    body = []
    for way, values in gains.items():
        if way in ("PCA", OWN):
            continue
        means = values.mean(axis=0)
        for name, part in (("R2", means[:, :2]), ("accuracy", means[:, 2:])):
            where = np.unravel_index(part.argmin(), part.shape)
            worst = part[where]
            verdict = "pass" if worst > -5e-4 else "miss"
            at = f"k = {SIZES[where[0]]}"
            body.append([f"{way}, {name}", f"{worst:+.4f}", at, verdict])
    head = ["worst mean difference from PCA", "value", "at", "at or above PCA"]
    report.table("The bar", head, body)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    with Report("index_digits") as report:
        write(measure(parser.parse_args().splits), report)
