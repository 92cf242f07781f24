"""
========================
Digits in two dimensions
========================

A handwritten digit is 64 numbers, and a picture of many digits has two axes. Which two
keep the ten classes apart? Linear maps cannot, as two straight directions are too few
for ten classes. A network can, if it is trained on how well the classes come apart in
the plane itself.
"""

# %%
# Four ways to the plane
# ----------------------
# Linear discriminant analysis (LDA) and neighborhood component analysis (NCA) are
# linear. :class:`~skrep.discriminant.DiscriminantEncoder` puts two hidden layers before
# the plane: once with ``loss="lda"``, the cross-entropy of the posterior of LDA in the
# plane gives, and once with ``loss="bhattacharyya"``, which looks at each pair of
# classes. All four learn from 70% of the rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrep.discriminant import DiscriminantEncoder

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X.astype(np.float32), y, test_size=0.3, stratify=y, random_state=0
)

ways = {
    "LDA": LinearDiscriminantAnalysis(n_components=2),
    "NCA": make_pipeline(
        StandardScaler(), NeighborhoodComponentsAnalysis(2, random_state=0)
    ),
}
for loss in ("lda", "bhattacharyya"):
    ways[f"network, {loss}"] = DiscriminantEncoder(loss=loss, random_state=0)
for way in ways.values():
    way.fit(X_train, y_train)

# %%
# Rows that no fit has seen
# -------------------------
# What is drawn are the other 30%, and the title says how many of these are recognized
# by their five nearest neighbors among the training rows of the same plane.

colors = plt.get_cmap("tab10").colors
fig, axes = plt.subplots(2, 2, figsize=(8, 8), layout="constrained")
for ax, (name, way) in zip(axes.flat, ways.items(), strict=True):
    plane = way.transform(X_test)
    neighbors = KNeighborsClassifier(5).fit(way.transform(X_train), y_train)
    score = neighbors.score(plane, y_test)
    for digit, color in enumerate(colors):
        own = plane[y_test == digit]
        ax.plot(*own.T, ".", ms=4, color=color, alpha=0.7)
        ax.annotate(
            str(digit),
            np.median(own, axis=0),
            ha="center",
            va="center",
            fontweight="bold",
            bbox={"boxstyle": "circle,pad=0.15", "fc": "white", "ec": color, "lw": 1},
        )
    ax.set(title=f"{name}: {score:.1%}", xticks=[], yticks=[])
    low, high = np.quantile(plane, [0.005, 0.995], axis=0)
    room = 0.08 * (high - low)
    ax.set_xlim(low[0] - room[0], high[0] + room[0])
    ax.set_ylim(low[1] - room[1], high[1] + room[1])
    ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Both networks make islands of the digits. What remains wrong is mostly at the bridges
# between two of them, where the ones and eights of some hands are hard to tell apart.
#
# The axes of the networks have a unit: in the training rows, the mean covariance within
# the digits is the identity. So Euclidean distance of rows is Mahalanobis distance,
# and few rows lie halfway between two medians that are five apart. Where in the plane a
# digit comes to lie, and which are its neighbors, depends on the seed, and says little
# about the digits.
