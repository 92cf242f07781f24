"""
=====================================
An even link that PCA, PLS, LDA miss
=====================================

Too little is as bad as too much: a dose, a temperature, the pressure in a tire. The
response is then low on either side of an optimum, and no *linear* function of the
columns tells anything about it. The direction that matters is there all the same.
"""

# %%
# A valley
# --------
# Rows have ten columns. The response is the square of one direction of them, and some
# noise. Half of the rows are for fitting, the other half for looking.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsRegressor

from skrep.datasets import make_index_model
from skrep.index_model import SteinIndex
from skrep.inspection import IndexDisplay
from skrep.metrics import subspace_distance

X, y, truth = make_index_model(2000, 10, links="even", random_state=0)
train, test = slice(None, 1000), slice(1000, None)

# %%
# Four methods are asked for one direction. Linear discriminant analysis needs classes,
# so it gets the response in five classes, from low to high.

levels = np.digitize(y, np.quantile(y[train], [0.2, 0.4, 0.6, 0.8]))
ways = {
    "PCA": PCA(1).fit(X[train]),
    "PLS": PLSRegression(1).fit(X[train], y[train]),
    "LDA": LinearDiscriminantAnalysis(n_components=1).fit(X[train], levels[train]),
    "SteinIndex": SteinIndex(1).fit(X[train], y[train]),
}

fig, axes = plt.subplots(2, 2, figsize=(7, 5.4), sharey=True, layout="constrained")
for ax, (name, way) in zip(axes.flat, ways.items(), strict=True):
    IndexDisplay.from_estimator(way, X[test], y[test], ax=ax)
    ax.set(title=name, xlabel="", ylabel="")
    ax.spines[["top", "right"]].set_visible(False)
fig.supxlabel("the direction found, on rows not used to find it")
fig.supylabel("response")
plt.show()

# %%
# A parabola, and three clouds. PLS seems to see a little, and that is chance: the slope
# that a sample of a parabola has goes either way, but it is largest along the parabola.
# So here are ten samples. What one direction is worth to a regression on nothing else,
# as :math:`R^2` on the held-out rows:


def one_direction(seed):
    X, y, _ = make_index_model(2000, 10, links="even", random_state=seed)
    levels = np.digitize(y, np.quantile(y[train], [0.2, 0.4, 0.6, 0.8]))
    yield "all columns", X
    yield "PCA", PCA(1).fit(X[train]).transform(X)
    yield "PLS", PLSRegression(1).fit(X[train], y[train]).transform(X)
    lda = LinearDiscriminantAnalysis(n_components=1).fit(X[train], levels[train])
    yield "LDA", lda.transform(X)
    yield "SteinIndex", SteinIndex(1).fit(X[train], y[train]).transform(X)


worth = {}
for seed in range(10):
    y_seed = make_index_model(2000, 10, links="even", random_state=seed)[1]
    for name, Z in one_direction(seed):
        head = KNeighborsRegressor(20).fit(Z[train], y_seed[train])
        worth.setdefault(name, []).append(head.score(Z[test], y_seed[test]))
for name, scores in worth.items():
    low, high = min(scores), max(scores)
    print(f"{name:12} {np.mean(scores):5.2f}   from {low:5.2f} to {high:5.2f}")

# %%
# How far is the direction from the truth? The sine of the angle is 0 for the same
# direction, and 1 for one at a right angle:

round(subspace_distance(ways["SteinIndex"].components_, truth), 3)

# %%
# Where the information is
# ------------------------
# Sort the rows by their response and cut them into ten slices. A method of order one
# compares the *means* of the slices. Here they do not move: where the response is high
# there are rows far out on both sides. Their *spread* moves, and that is what order two
# looks at. PLS compares means in its way, LDA compares nothing else; PCA does not know
# about the response at all.

index = (X - X.mean(axis=0)) @ truth[0]
index /= index.std()
slices = np.array_split(np.argsort(y), 10)
means = [index[rows].mean() for rows in slices]
spreads = [index[rows].std() for rows in slices]

fig, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
ax.plot(range(1, 11), means, "o-", color="#8fa3b5", label="mean")
ax.plot(range(1, 11), spreads, "o-", color="#1f6f8b", label="standard deviation")
ax.axhline(1, color="black", ls=":", lw=1)
ax.set(
    xlabel="slice, from low to high response",
    ylabel="along the true direction",
    xticks=range(1, 11),
)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# One direction, or more?
# -----------------------
# Nobody told how many directions there are. `eigenvalues_` say what each is worth, and
# `noise_edge_` says what noise alone may reach. With ``n_components="auto"`` a test
# decides. It may answer that there is none; here it says one.

counted = SteinIndex("auto").fit(X[train], y[train])
fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
IndexDisplay.from_estimator(counted, kind="eigenvalues", ax=ax)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The other bars stay under the edge: in those directions nothing but noise was seen.
