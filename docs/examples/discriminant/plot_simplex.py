"""
===================================
Places on a simplex, hard and soft
===================================

Three vertices of a regular simplex lie in a plane, all equally far apart. A
:class:`~skrep.discriminant.SimplexClassifier` gives each class one of them before it
sees a row; here it has learned the digits 0 and 1, and keeps the third place free.
Then 2 comes, by ``partial_fit`` on its rows alone: it moves to the free place, and the
features of the two old digits stay close to where they were.

A :class:`~skrep.discriminant.SimplexCode` needs no labels. It writes the posterior of
three soft clusters as a point of the plane: far out where a row is surely of one
cluster, at the origin where it may be of any.
"""

# %%
# All points are rows that were held out.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from skrep.discriminant import SimplexClassifier, SimplexCode

X, y = load_digits(return_X_y=True)
X, y = X[y < 3], y[y < 3]
X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)

old = y < 2
model = SimplexClassifier(n_reserved=1, max_epochs=40, random_state=0)
before = model.fit(X[old], y[old]).transform(X_test)
after = model.partial_fit(X[~old], y[~old]).transform(X_test)
print(f"all three digits, held out: {model.score(X_test, y_test):.3f}")

code = SimplexCode(3, random_state=0).fit(X)
soft = code.transform(X_test)
doubt = -np.sum(code.posterior(soft) * np.log(code.posterior(soft)), axis=1)

# %%
# The digit 2 is nowhere before the classifier has seen it, and at its place afterwards.
figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(11, 3.8), layout="constrained"
)
colors = np.array(["#1b6f8a", "#c8553d", "#e0a526"])
for axes, Z, title in (
    (left, before, "0 and 1 are known"),
    (middle, after, "2 has come"),
):
    for digit in range(3):
        shown = y_test == digit
        axes.scatter(*Z[shown].T, s=12, color=colors[digit], label=str(digit))
    for vertex in model.vertices_:
        axes.plot(*np.outer([0, np.abs(Z).max()], vertex).T, color="#aaaaaa", zorder=0)
    axes.set_title(title)
    axes.set_aspect("equal", "datalim")
left.legend(title="digit", frameon=False)
points = right.scatter(*soft.T, s=12, c=doubt, cmap="viridis_r")
for vertex in code.vertices_:
    right.plot(*np.outer([0, np.abs(soft).max()], vertex).T, color="#aaaaaa", zorder=0)
right.set_title("three soft clusters")
right.set_aspect("equal", "datalim")
figure.colorbar(points, ax=right, label="entropy of the posterior")
for axes in (left, middle, right):
    axes.set_xticks([])
    axes.set_yticks([])
plt.show()
