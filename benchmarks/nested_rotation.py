"""Does a rotation with roles serve the coarse labels first, and can training better it?

    python benchmarks/nested_rotation.py [--splits 5]

The bundled mammals: 1,121 definitions of the ten orders with at least 20 members, under
MiniLM and E5. Level 0 is the order. Level 1 is the depth in the tree, or the group: the
nearest ancestor with at least 20 members at or below it. Stratified splits of 60 / 40;
rows are scored as in ``nested_prefix.py``, centered by the train mean for 10-NN, too.

- *order by prefix, and blocks*: `PrefixRotation` beside PCA, truncation, and two
  simpler fillings of its blocks: axes of the class means, and discriminants for which
  all pairs of classes weigh alike.
- *refinements*: the axes of both blocks go on from the closed form, by Adam through a
  QR retraction onto the Stiefel manifold, on a loss summed over the prefixes of every
  block. The number of steps is the best of three on a quarter of the train rows. A
  refinement is worth offering if it gains two standard errors. Measured for two of the
  four tasks, as it takes most of the time.
"""

import argparse
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.linalg
import torch
from _nested_protocol import class_scores, neighbor_scores
from _report import Report
from sklearn.covariance import ledoit_wolf
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from skrep.datasets import load_mammals
from skrep.nested import PrefixRotation

PREFIXES = (2, 4, 8, 16, 32)
STEPS = (3, 10, 30)
SMALLEST = 20
OURS = "PrefixRotation()"


class Task(NamedTuple):
    """Rows, the labels of both levels, and a split."""

    X: np.ndarray
    levels: tuple[np.ndarray, np.ndarray]
    train: np.ndarray
    test: np.ndarray
    seed: int


def load(encoder: str) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Vectors, orders, and the two second levels."""
    mammals = load_mammals(encoder=encoder)
    parent = dict(mammals.edges[::-1].tolist())
    lines = []
    for row in range(len(mammals.names)):
        line = [row]
        while line[-1] in parent:
            line.append(parent[line[-1]])
        lines.append(line)
    below = np.bincount(np.concatenate(lines), minlength=len(lines))
    group = np.array([next(a for a in line if below[a] >= SMALLEST) for line in lines])
    kept = np.bincount(mammals.target)[mammals.target] >= SMALLEST
    order, group, depth = mammals.target[kept], group[kept], mammals.depth[kept]
    # A group of few rows of its own joins the rest of its order, or of all.
    group = np.where(np.bincount(group)[group] < 15, len(lines) + order, group)
    group = np.where(np.bincount(group)[group] < 10, -1, group)
    found = {"depth": np.clip(depth, 3, 9), "group": group}
    X = mammals.data[kept].astype(np.float64)
    return X, codes_of(order), {name: codes_of(y) for name, y in found.items()}


def codes_of(labels: np.ndarray) -> np.ndarray:
    return np.unique(labels, return_inverse=True)[1]


# --- closed forms ----------------------------------------------------------------


def simple_axes(X: np.ndarray, y: np.ndarray, discriminant: bool) -> np.ndarray:
    """Axes of the class means, or shrunk discriminants, as orthonormal columns."""
    codes = codes_of(y)
    shares = np.bincount(codes) / len(codes)
    means = np.array([X[codes == c].mean(axis=0) for c in range(len(shares))])
    gaps = (means - shares @ means) * np.sqrt(shares)[:, None]
    metric = np.eye(X.shape[1])
    if discriminant:
        metric = ledoit_wolf(X - means[codes], assume_centered=True)[0]
    _, vectors = scipy.linalg.eigh(gaps.T @ gaps, metric)
    return scipy.linalg.qr(vectors[:, : -len(shares) : -1], mode="economic")[0]


def simple_rotation(task: Task, discriminant: bool) -> tuple[np.ndarray, list[int]]:
    """The deflation of PrefixRotation with simpler axes."""
    X = task.X[task.train]
    complement, blocks = np.eye(X.shape[1]), []
    for y in task.levels:
        axes = simple_axes(X @ complement, y[task.train], discriminant)
        blocks.append(complement @ axes)
        complement = scipy.linalg.qr(np.hstack(blocks))[0][
            :, sum(block.shape[1] for block in blocks) :
        ]
    rest = complement @ PCA().fit(X @ complement).components_.T
    return np.hstack([*blocks, rest]).T, [block.shape[1] for block in blocks]


def rotation(task: Task) -> tuple[np.ndarray, list[int]]:
    """Axes of PrefixRotation as rows, and the sizes of its blocks."""
    y = np.column_stack(task.levels)[task.train]
    model = PrefixRotation().fit(task.X[task.train], y)
    return model.components_, [int(np.sum(model.roles_ == level)) for level in (0, 1)]


def closed_forms(task: Task) -> dict[str, tuple[np.ndarray, list[int]]]:
    """Axes as rows and sizes of the blocks, by way."""
    X = task.X[task.train]
    axes, sizes = rotation(task)
    return {
        OURS: (axes, sizes),
        "... pairs alike": simple_rotation(task, True),
        "... axes of means": simple_rotation(task, False),
        "PCA": (PCA().fit(X).components_, sizes),
        "truncation": (np.eye(X.shape[1]), sizes),
    }


# --- refinements -----------------------------------------------------------------


class Labels(NamedTuple):
    """Membership (n, n_classes) and codes (n,) of a level."""

    member: torch.Tensor
    codes: torch.Tensor


Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
cross_entropy = torch.nn.functional.cross_entropy


def centroid_loss(labels: Labels, X: torch.Tensor, length: int) -> Loss:
    """Cross-entropy of Gaussian classes; a row is no part of its own class mean."""
    sizes = labels.member.sum(0)
    own_share = (sizes / (sizes - 1).clamp(min=1))[labels.codes]

    def loss(B: torch.Tensor, Z: torch.Tensor) -> torch.Tensor:
        means = labels.member.T @ Z / sizes[:, None]
        squares = squared_distances(Z, means)
        own = squares.gather(1, labels.codes[:, None])[:, 0]
        spread = (own * own_share).mean().detach() / length
        left_out = (own * own_share**2)[:, None]
        squares = squares.scatter(1, labels.codes[:, None], left_out)
        logits = torch.log(sizes / sizes.sum()) - squares / (2 * spread)
        return cross_entropy(logits, labels.codes)

    return loss


def head_loss(labels: Labels, X: torch.Tensor, length: int) -> Loss:
    """Cross-entropy of a softmax head of its own, as in a linear Matryoshka encoder."""
    head = torch.zeros(length + 1, labels.member.shape[1], dtype=X.dtype)
    head.requires_grad_()

    def loss(B: torch.Tensor, Z: torch.Tensor) -> torch.Tensor:
        penalty = 1e-3 * (head[1:] ** 2).sum()
        return cross_entropy(Z @ head[1:] + head[0], labels.codes) + penalty

    loss.head = head
    return loss


def trace_ratio_loss(labels: Labels, X: torch.Tensor, length: int) -> Loss:
    """Minus the variance between classes over the shrunk variance within."""
    sizes = labels.member.sum(0)
    means = labels.member.T @ X / sizes[:, None]
    between = means.T @ (means * (sizes / len(X))[:, None])
    residuals = (X - means[labels.codes]).numpy()
    within = torch.tensor(ledoit_wolf(residuals, assume_centered=True)[0])

    def loss(B: torch.Tensor, Z: torch.Tensor) -> torch.Tensor:
        return -((B.T @ between) * B.T).sum() / ((B.T @ within) * B.T).sum()

    return loss


def squared_distances(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    squares = (A**2).sum(1)[:, None] + (B**2).sum(1) - 2 * A @ B.T
    return squares.clamp(min=0)


REFINEMENTS = {
    "centroid softmax": centroid_loss,
    "softmax heads": head_loss,
    "trace ratio": trace_ratio_loss,
}


def refined(
    make: Callable[[Labels, torch.Tensor, int], Loss], task: Task, steps: Sequence[int]
) -> tuple[dict[int, np.ndarray], list[int]]:
    """Axes of both blocks after so many steps, and the sizes of the blocks."""
    rows = task.X[task.train]
    axes, sizes = rotation(task)
    rows = rows - rows.mean(axis=0)
    X = torch.tensor(rows / np.sqrt(np.mean(np.sum(rows**2, axis=1))))
    start = torch.tensor(axes[: sum(sizes)].T.copy())
    move = torch.zeros_like(start, requires_grad=True)
    parts, first = [], 0
    for y, size in zip(task.levels, sizes, strict=True):
        codes = torch.tensor(codes_of(y[task.train]))
        labels = Labels(torch.nn.functional.one_hot(codes).to(X.dtype), codes)
        lengths = [k for k in (2, 4, 8, 16) if k < size] + [size]
        for k in lengths:
            parts.append((slice(first, first + k), make(labels, X, k), len(lengths)))
        first += size

    def objective() -> torch.Tensor:
        B = retracted(start + move)
        Z = X @ B
        return sum(loss(B[:, cut], Z[:, cut]) / n for cut, loss, n in parts)

    heads = [loss.head for _, loss, _ in parts if hasattr(loss, "head")]
    if heads:
        warm_up(heads, objective)
    optimizer = torch.optim.Adam([{"params": [move], "lr": 2e-3}])
    if heads:
        optimizer.add_param_group({"params": heads, "lr": 5e-2})
    found = {}
    for step in range(1, max(steps) + 1):
        optimizer.zero_grad()
        objective().backward()
        optimizer.step()
        if step in steps:
            found[step] = retracted(start + move).detach().numpy().T.copy()
    return found, sizes


def warm_up(heads: list[torch.Tensor], objective: Callable[[], torch.Tensor]) -> None:
    """Fit the heads to the closed form first."""
    optimizer = torch.optim.LBFGS(heads, max_iter=100)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        value = objective()
        value.backward()
        return value

    optimizer.step(closure)


def retracted(M: torch.Tensor) -> torch.Tensor:
    """The orthonormal basis of the same prefix spans, by QR."""
    Q, R = torch.linalg.qr(M)
    return Q * torch.sign(torch.diagonal(R))


# --- scores ----------------------------------------------------------------------


def both_scores(
    Z: np.ndarray, y: np.ndarray, task: Task, prefixes: Sequence[int]
) -> dict[int, tuple[float, float]]:
    """Logistic and 10-NN accuracy at prefixes."""
    train, test = task.train, task.test
    Z = Z - Z[train].mean(axis=0)
    sides = (Z[train], y[train], Z[test], y[test], prefixes)
    logistic, neighbors = class_scores(*sides, seed=task.seed), neighbor_scores(*sides)
    return {k: (logistic[k], neighbors[k]) for k in prefixes}


def block_scores(
    axes: np.ndarray, sizes: list[int], task: Task
) -> list[tuple[float, float]]:
    """Order, then second level: from block 0, block 1, both."""
    Z = task.X @ axes[: sum(sizes)].T
    cells = []
    for y in task.levels:
        for part in (Z[:, : sizes[0]], Z[:, sizes[0] :], Z):
            width = part.shape[1]
            cells.append(both_scores(part, y, task, [width])[width])
    return cells


def refinement_scores(
    axes: np.ndarray, sizes: list[int], task: Task
) -> list[tuple[float, float]]:
    """Order at 2, 4 and the block; second level at block 1 and both blocks."""
    Z = task.X @ axes[: sum(sizes)].T
    order, second = task.levels
    early = both_scores(Z, order, task, (2, 4, sizes[0]))
    tail = both_scores(Z[:, sizes[0] :], second, task, [sizes[1]])
    both = both_scores(Z, second, task, [sum(sizes)])
    return [*early.values(), *tail.values(), *both.values()]


def strata(levels: Sequence[np.ndarray]) -> np.ndarray:
    """The labels of more classes: where they are few, each has rows on both sides."""
    return max(levels, key=np.max)


def inner(task: Task) -> Task:
    """The train rows alone, split again: nothing of the test rows is seen."""
    train, judge = train_test_split(
        task.train,
        test_size=0.25,
        stratify=strata(task.levels)[task.train],
        random_state=task.seed,
    )
    return task._replace(train=train, test=judge)


def chosen_steps(name: str, task: Task) -> int:
    within = inner(task)
    found, sizes = refined(REFINEMENTS[name], within, STEPS)
    scores = {n: np.mean(refinement_scores(B, sizes, within)) for n, B in found.items()}
    return max(scores, key=scores.__getitem__)


def measure(n_splits: int, report: Report) -> None:
    for encoder, refine in (("minilm", "depth"), ("e5", "group")):
        X, order, seconds = load(encoder)
        for name, second in seconds.items():
            levels, rows = (order, second), np.arange(len(X))
            tasks = []
            for seed in range(n_splits):
                train, test = train_test_split(
                    rows, test_size=0.4, stratify=strata(levels), random_state=seed
                )
                tasks.append(Task(X, levels, train, test, seed))
            title = f"{encoder}, order then {name}"
            compare_closed(report, title, name, tasks)
            if name == refine:
                compare_refined(report, title, name, tasks)


def compare_closed(report: Report, title: str, name: str, tasks: list[Task]) -> None:
    prefixes: dict[str, list] = {}
    blocks: dict[str, list] = {}
    for task in tasks:
        for way, (axes, sizes) in closed_forms(task).items():
            Z = task.X @ axes[: max(PREFIXES)].T
            found = both_scores(Z, task.levels[0], task, PREFIXES)
            prefixes.setdefault(way, []).append(list(found.values()))
            blocks.setdefault(way, []).append(block_scores(axes, sizes, task))
    heads = [f"k = {k}" for k in PREFIXES]
    table(report, f"{title}: order by prefix, logistic / 10-NN", heads, prefixes)
    gains = {way: np.subtract(prefixes[OURS], prefixes[way]) for way in prefixes}
    del gains[OURS]
    paired(report, f"{title}: {OURS} minus each (standard error)", heads, gains)
    sizes = closed_forms(tasks[0])[OURS][1]
    heads = [
        f"{what}: {part}"
        for what in ("order", name)
        for part in ("block 0", "block 1", "both")
    ]
    table(report, f"{title}: blocks of {sizes}, logistic / 10-NN", heads, blocks)


def compare_refined(report: Report, title: str, name: str, tasks: list[Task]) -> None:
    heads = ["order, 2", "order, 4", "order, block 0", f"{name}, block 1"]
    heads += [f"{name}, both", "mean"]
    gains: dict[str, list] = {}
    for way, make in REFINEMENTS.items():
        chosen = [chosen_steps(way, task) for task in tasks]
        label = f"{way}, steps {' '.join(map(str, chosen))}"
        for task, steps in zip(tasks, chosen, strict=True):
            found, sizes = refined(make, task, [steps])
            start = rotation(task)[0]
            before = np.array(refinement_scores(start, sizes, task))
            change = np.array(refinement_scores(found[steps], sizes, task)) - before
            row = np.vstack([change, change.mean(axis=0)])
            gains.setdefault(label, []).append(row)
    paired(report, f"{title}: refined minus closed form", heads, gains)


def table(report: Report, title: str, heads: list[str], cells: dict[str, list]) -> None:
    body = []
    for way, values in cells.items():
        means = np.mean(values, axis=0)
        body.append([way, *(f"{a:.3f} / {b:.3f}" for a, b in means)])
    report.table(title, ["way", *heads], body)


def paired(
    report: Report, title: str, heads: list[str], cells: dict[str, list]
) -> None:
    body = []
    for way, values in cells.items():
        means = np.mean(values, axis=0)
        errors = np.std(values, axis=0, ddof=1) / np.sqrt(len(values))
        row = [
            " / ".join(f"{m:+.3f} ({e:.3f})" for m, e in zip(mean, error, strict=True))
            for mean, error in zip(means, errors, strict=True)
        ]
        body.append([way, *row])
    report.table(title, ["way", *heads], body)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    torch.set_num_threads(1)
    with Report("nested_rotation") as report:
        measure(parser.parse_args().splits, report)
