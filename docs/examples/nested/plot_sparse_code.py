"""
===================
A few of many atoms
===================

A short vector describes every row along the same few axes. A sparse code of as many
numbers picks for every row the atoms that suit it best.
"""

# %%
# The vectors are MiniLM's, of definitions of mammals from WordNet, and the classes are
# the orders with at least 20 members. Both codes see 60% of the rows and their orders.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from skrep.datasets import load_mammals
from skrep.nested import NestedProjection, SparseCode

mammals = load_mammals()
kept = np.bincount(mammals.target)[mammals.target] >= 20
X = mammals.gloss["minilm"][kept]
order = mammals.target_names[mammals.target[kept]]
names = mammals.names[kept]
train, test = train_test_split(
    np.arange(len(X)), test_size=0.4, stratify=order, random_state=0
)

code = SparseCode(512, 16, random_state=0).fit(X[train], order[train])
nested = NestedProjection(objective="classes").fit(X[train], order[train])
code.transform(X[test])

# %%
# Neighbors by the cosine take the CSR matrix as it is. `with_active` cuts the fitted
# code as `prefix` cuts the fitted projection.

sizes = [1, 2, 4, 8, 16]


def accuracy(transformer):
    head = KNeighborsClassifier(10, metric="cosine")
    head.fit(transformer.transform(X[train]), order[train])
    return head.score(transformer.transform(X[test]), order[test])


curves = {
    "atoms of a sparse code": [accuracy(code.with_active(k)) for k in sizes],
    "leading axes": [accuracy(nested.prefix(k)) for k in sizes],
}

# %%
# An atom is active for few rows, and these have something in common. Six atoms and the
# three mammals of the test rows that have most of each:

Z = code.transform(X[test]).tocsc()
busy = np.argsort(np.diff(Z.indptr))[::-1]
chosen = [j for j in busy if Z[:, [j]].nnz >= 3][:6]
for j in chosen:
    column = Z[:, [j]].toarray().ravel()
    best = np.argsort(column)[::-1][:3]
    print(f"{code.get_feature_names_out()[j]:14}", ", ".join(names[test][best]))

# %%
# On the left, what ten neighbors know of the order. A single atom is not enough: two
# rows have it in common, or nothing. From two on, atoms that are chosen for every row
# tell more than axes that are the same for all. On the right, the codes: rows sorted by
# order, a dot where an atom is active, and atoms sorted by the orders of the rows that
# they are active for. A code of classes is nearly a set of blocks.

by_order = np.argsort(order[test], kind="stable")
numbers = np.unique(order[test], return_inverse=True)[1][by_order]
dense = Z.toarray()[by_order]
used = np.flatnonzero(dense.any(axis=0))
center = (numbers @ dense[:, used]) / dense[:, used].sum(axis=0)
rows, columns = np.nonzero(dense[:, used[np.argsort(center)]])

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for (label, values), color in zip(curves.items(), ["#1f6f8b", "#c8553d"], strict=True):
    axes[0].plot(sizes, values, "o-", color=color, label=label)
axes[0].set_xscale("log", base=2)
axes[0].set(
    xticks=sizes,
    xticklabels=sizes,
    xlabel="numbers of a row",
    ylabel="accuracy of ten neighbors",
)
axes[0].legend(frameon=False, loc="lower right")
axes[0].spines[["top", "right"]].set_visible(False)
axes[1].plot(columns, rows, ",", color="#1f6f8b")
for edge in np.flatnonzero(np.diff(numbers)):
    axes[1].axhline(edge + 0.5, color="#c8553d", lw=0.5)
axes[1].set(xlabel="atoms", ylabel="rows, by order", yticks=[])
axes[1].invert_yaxis()
plt.show()

# %%
# The price: a row's entries have places, which are stored as well, and the dictionary
# of 512 atoms is part of the model.
print(f"{code.components_.nbytes // 1024} KiB of atoms")
