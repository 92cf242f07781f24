"""
======================
A rotation with roles
======================

Frozen vectors answer several questions, coarse ones and finer ones. A rotation with
roles sorts them: its first coordinates serve the coarse question, the next ones the
finer one, and at full length no distance has changed.
"""

# %%
# Two questions
# -------------
# The vectors are MiniLM's, of definitions of mammals. The coarse question is the order
# of a mammal (carnivore, bat, rodent, ...), the finer one how deep it stands in the
# tree of WordNet: "carnivore" is nearer to the root than "otterhound". We keep the
# orders with at least 20 members and hold out 40% of the rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from skrep.datasets import load_mammals
from skrep.nested import PrefixRotation

mammals = load_mammals()
kept = np.bincount(mammals.target)[mammals.target] >= 20
X = mammals.data[kept]
order = mammals.target_names[mammals.target[kept]]
depth = np.clip(mammals.depth[kept], 3, 9)
train, test = train_test_split(
    np.arange(len(X)), test_size=0.4, stratify=order, random_state=0
)
len(np.unique(order)), len(np.unique(depth))

# %%
# The rotation
# ------------
# Labels are columns, the coarsest first, of whatever type. Ten orders are told apart by
# nine axes and seven depths by six more; all others are ordered by variance.

labels = np.column_stack([order, depth])
rotation = PrefixRotation().fit(X[train], labels[train])
names, sizes = np.unique(rotation.roles_, return_counts=True)
dict(zip(names.tolist(), sizes.tolist(), strict=True))

# %%
# Nothing was lost: all cosines are those of the frozen vectors.

Z = rotation.transform(X)
float(np.abs(Z[test] @ Z[test].T - X[test] @ X[test].T).max())

# %%
# What each block knows
# ---------------------
# A logistic regression is trained on one block at a time, once for either question, and
# beside it on the same coordinates of a principal component analysis. The first block
# tells the order and knows little of the depth; the second is the other way round. The
# rest, 369 coordinates, is not without either: a block gathers what serves its question
# best, it does not take away all of it.

P = PCA().fit(X[train]).transform(X)


def accuracy(rows, target):
    rows = rows - rows[train].mean(axis=0)
    rows = rows / np.sqrt(np.mean(np.sum(rows[train] ** 2, axis=1)))
    head = LogisticRegression(C=10, max_iter=1000).fit(rows[train], target[train])
    return head.score(rows[test], target[test])


blocks = {"first 9": slice(0, 9), "next 6": slice(9, 15), "the rest": slice(15, None)}
questions = {"order": order, "depth": depth}

fig, axes = plt.subplots(1, 2, figsize=(7, 2.9), sharey=True, layout="constrained")
for ax, (question, target) in zip(axes, questions.items(), strict=True):
    for shift, coordinates, color, label in (
        (-0.19, Z, "#1f6f8b", "rotation with roles"),
        (0.19, P, "#b8c4d0", "PCA"),
    ):
        scores = [accuracy(coordinates[:, block], target) for block in blocks.values()]
        bars = ax.bar(np.arange(3) + shift, scores, 0.36, color=color, label=label)
        ax.bar_label(bars, fmt="{:.2f}", padding=2, fontsize=8)
    largest = np.unique(target[test], return_counts=True)[1].max() / len(test)
    ax.axhline(largest, color="gray", ls=":", lw=1, label="largest class")
    ax.set_xticks(range(3), labels=blocks)
    ax.set(title=f"{question}, by block", ylim=(0, 1))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("held-out accuracy")
axes[1].legend(frameon=False, loc="upper right")
plt.show()

# %%
# Prefix by prefix
# ----------------
# :meth:`~skrep.nested.PrefixRotation.prefix` gives the fitted rotation of a shorter
# length. Nine coordinates tell the order as well as all 384 do, the next six add the
# depth, and what comes after adds little. Principal components need ten times as many
# for the same accuracy, and plain truncation nearly all.

lengths = [2, 3, 4, 6, 9, 12, 15, 24, 48, 96, 192, 384]

fig, axes = plt.subplots(1, 2, figsize=(7, 3.2), sharey=True, layout="constrained")
for ax, (question, target) in zip(axes, questions.items(), strict=True):
    for coordinates, color, label in (
        (Z, "#1f6f8b", "rotation with roles"),
        (P, "#8fa3b5", "PCA"),
        (X, "#c8553d", "truncation"),
    ):
        scores = [accuracy(coordinates[:, :k], target) for k in lengths]
        ax.plot(lengths, scores, marker="o", ms=3.5, color=color, label=label)
    for start, end, name in ((2, 9, "order"), (9, 15, "depth")):
        served = "#e8f1f4" if name == question else "#f5f5f5"
        ax.axvspan(start, end, color=served, zorder=0)
        ax.text(np.sqrt(start * end), 0.05, name, ha="center", fontsize=8, color="gray")
    ax.set(title=question, xscale="log", xlabel="coordinates kept", ylim=(0, 1))
    ax.set_xticks([2, 4, 9, 15, 48, 192], labels=[2, 4, 9, 15, 48, 192])
    ax.minorticks_off()
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("held-out accuracy")
axes[1].legend(frameon=False, loc="upper right")
plt.show()
