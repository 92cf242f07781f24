"""
=================================
Several responses, few directions
=================================

A plant has many meters, and a few things that really change. Every response knows of
some of them only, each by a curve of its own. Together they tell all.
"""

# %%
# Five curves of five directions
# ------------------------------
# Rows have 20 columns. Five directions of them drive five responses: response j rises
# with direction j and levels off, and is a parabola of the one before.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cross_decomposition import CCA, PLSRegression
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsRegressor

from skrep.datasets import make_index_model
from skrep.index_model import SteinIndex
from skrep.metrics import principal_angles, subspace_distance

X, Y, truth = make_index_model(4000, 20, links="multi5", design="ar1", random_state=0)
train, test = slice(None, 2000), slice(2000, None)
Y.shape, truth.shape

# %%
# One response alone tells of two directions at most. The picture shows the cosine of
# the angle between each true direction and what was found: a square is dark where the
# direction is there. The last row of squares is one fit to all five responses.

fits = [SteinIndex("auto").fit(X[train], Y[train, j]) for j in range(5)]
together = SteinIndex("auto").fit(X[train], Y[train])
seen = np.array(
    [
        [np.cos(principal_angles(u, fit.components_)[0]) for u in truth[:, None]]
        for fit in [*fits, together]
    ]
)

fig, ax = plt.subplots(figsize=(5.6, 4.2), layout="constrained")
image = ax.imshow(seen, cmap="Blues", vmin=0, vmax=1)
for (i, j), value in np.ndenumerate(seen):
    ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=8).set_color(
        "white" if value > 0.6 else "black"
    )
found = [f"{fit.n_components_} found" for fit in [*fits, together]]
rows = [*(f"response {j}" for j in range(1, 6)), "all five"]
labels = [f"{row}: {count}" for row, count in zip(rows, found, strict=True)]
ax.set_yticks(range(6), labels)
ax.set_xticks(range(5), range(1, 6))
ax.set_xlabel("true direction")
fig.colorbar(image, ax=ax, label="cosine")
plt.show()

# %%
# The numbers of directions are not given: ``n_components="auto"`` counts. From all
# responses it counts five.
#
# Beside methods that see straight lines
# --------------------------------------
# PLS and canonical correlation also take several responses. They rest on the slopes
# alone. With one response for each direction, and a slope in each, that is not
# hopeless: CCA finds all five, with more error than the moments of both orders. PLS
# is led astray by the correlations among the columns. The sine of the largest angle to
# the five true directions, 0 is best:

ways = {
    "PCA": PCA(5).fit(X[train]).components_,
    "PLS": PLSRegression(5).fit(X[train], Y[train]).x_rotations_.T,
    "CCA": CCA(5).fit(X[train], Y[train]).x_rotations_.T,
    "SteinIndex": SteinIndex(5).fit(X[train], Y[train]).components_,
}
{name: round(subspace_distance(rows, truth), 2) for name, rows in ways.items()}

# %%
# A direction without a slope anywhere is out of their reach. Take three responses of
# two directions: a wave and a parabola of the first, and the product of both. The
# second direction has no slope in any of them.

links = ["sine", "product", "even"]
X, Y, truth = make_index_model(4000, 20, links=links, design="ar1", random_state=0)
ways = {
    "PCA": PCA(2).fit(X[train]),
    "PLS": PLSRegression(2).fit(X[train], Y[train]),
    "CCA": CCA(2).fit(X[train], Y[train]),
    "SteinIndex": SteinIndex(2).fit(X[train], Y[train]),
}
scores = {}
for name, way in [("all columns", None), *ways.items()]:
    Z = X if way is None else way.transform(X)
    head = KNeighborsRegressor(20).fit(Z[train], Y[train])
    scores[name] = [
        1 - np.mean((Y[test, j] - head.predict(Z[test])[:, j]) ** 2) / Y[test, j].var()
        for j in range(3)
    ]
{name: np.round(values, 2).tolist() for name, values in scores.items()}

# %%
# The same in a picture. Two directions serve all three responses; no other two do, and
# all twenty columns do less.

colors = ["#d9d9d9", "#c8553d", "#8fa3b5", "#7a9e3f", "#1f6f8b"]
fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
for k, ((name, values), color) in enumerate(zip(scores.items(), colors, strict=True)):
    ax.bar(np.arange(3) + 0.16 * (k - 2), values, 0.16, label=name, color=color)
ax.set(xticks=range(3), xticklabels=links, ylabel="$R^2$", ylim=(0, 1.15))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, ncols=5, loc="upper center", fontsize=8)
plt.show()
