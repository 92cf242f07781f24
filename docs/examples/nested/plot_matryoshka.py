"""
=========================================
A trained head for very short vectors
=========================================

The closed form orders axes by what they are worth one after the other. Two or four
columns that must tell eleven classes apart can be worth more when they are learned
together, by a small perceptron; a rotation of the same axes is no better here.
"""

# %%
# Vectors and classes
# -------------------
# The vectors are MiniLM's, of definitions of mammals from WordNet, and the classes are
# the orders (carnivore, bat, rodent, ...) with at least 8 members. Everything is fitted
# on half of the rows; the other half is scored.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from skrep.datasets import load_mammals
from skrep.nested import MatryoshkaProjection, NestedProjection

mammals = load_mammals()
kept = np.bincount(mammals.target)[mammals.target] >= 8
X, order = mammals.gloss["minilm"][kept], mammals.target_names[mammals.target[kept]]
train, test = train_test_split(
    np.arange(len(X)), test_size=0.5, stratify=order, random_state=0
)
len(np.unique(order)), len(train)

# %%
# Three ways to learn from classes
# --------------------------------
# The closed form takes milliseconds. From there training starts: without hidden layers
# the encoder is the closed form but for a rotation, so that at full length nothing
# changes; with one it is a curved map.

prefixes = (2, 4, 8, 16)
encoders = {
    "PCA": PCA(16),
    "closed form": NestedProjection(16, objective="classes"),
    "rotation": MatryoshkaProjection(prefixes=prefixes, max_epochs=40, random_state=0),
    "perceptron": MatryoshkaProjection(
        prefixes=prefixes, hidden=(256,), max_epochs=40, random_state=0
    ),
}
colors = dict(zip(encoders, ("#8fa3b5", "#1f6f8b", "#c8553d", "#7a9e3f"), strict=True))
cosine = {"n_neighbors": 5, "metric": "cosine"}
scores = {}
for name, encoder in encoders.items():
    encoder.fit(X[train], order[train])
    Z = encoder.transform(X)
    scores[name] = [
        KNeighborsClassifier(**cosine)
        .fit(Z[train, :k], order[train])
        .score(Z[test, :k], order[test])
        for k in prefixes
    ]

_, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for name, accuracy in scores.items():
    ax.plot(prefixes, accuracy, "o-", color=colors[name], label=name)
ax.set_xscale("log", base=2)
ax.set_xticks(prefixes, map(str, prefixes))
ax.set_xlabel("columns kept")
ax.set_ylabel("accuracy of the five nearest rows")
ax.legend(frameon=False)
ax.grid(alpha=0.3)
plt.show()

# %%
# What a rotation leaves alone
# ----------------------------
# The rotation deals the worth of the axes anew, and the distances between whole rows
# are those of the closed form.

closed = NestedProjection(objective="classes").fit(X[train], order[train])
turned = MatryoshkaProjection(max_epochs=5, random_state=0).fit(X[train], order[train])
gaps = [np.diff(model.transform(X[:2]), axis=0) for model in (closed, turned)]
[float(np.linalg.norm(gap).round(4)) for gap in gaps]

# %%
# Which one to take
# -----------------
# Eight columns and more hold what eleven classes need: the closed form is as good
# there, and takes milliseconds. A perceptron is worth its seconds where columns are
# fewer, many times fewer than classes. The rotation pays with more classes and rows
# than here: the user guide has figures for 35 classes.
