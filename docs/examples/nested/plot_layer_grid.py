"""
===============================
Which layer, and how much of it
===============================

The last layer of an encoder need not be the best for a task, and all of its columns
rarely are needed. A grid of cross-validated scores, layer by length, shows both at once
and picks.
"""

# %%
# Layers as blocks of columns
# ---------------------------
# Three encoders of the same definitions of mammals stand for three layers here, of
# 256, 384 and 384 columns. Layers of one width may also come as an array of shape
# ``(n_samples, n_layers, width)``. The task is to tell the orders that have at least 20
# members; 60% of the rows choose, the others judge.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from skrep.datasets import load_mammals
from skrep.nested import LayerGrid

mammals = load_mammals()
kept = np.bincount(mammals.target)[mammals.target] >= 20
layers = {name: mammals.gloss[name][kept] for name in ("wordllama", "e5", "minilm")}
widths = tuple(rows.shape[1] for rows in layers.values())
X = np.hstack(list(layers.values()))
order = mammals.target_names[mammals.target[kept]]
X_train, X_test, y_train, y_test = train_test_split(
    X, order, test_size=0.4, stratify=order, random_state=0
)
X_train.shape, widths

# %%
# The grid
# --------
# Every layer is turned to its principal axes; a last row puts all layers side by side.
# The score of a cell is the accuracy of the ten nearest rows, of other folds.

grid = LayerGrid(widths, fuse="concatenate", tolerance=0.02).fit(X_train, y_train)
frame = grid.grid_frame()

fig, ax = plt.subplots(figsize=(8, 3), layout="constrained")
image = ax.imshow(frame, cmap="viridis", aspect="auto")
for row, column in np.argwhere(np.isfinite(frame.to_numpy())):
    value = frame.iloc[row, column]
    dark = value < np.nanmean(frame)
    ax.text(
        column,
        row,
        f"{value:.2f}",
        ha="center",
        va="center",
        color="white" if dark else "black",
        fontsize=9,
    )
chosen = list(grid.lengths_).index(grid.n_components_), len(frame) - 1
box = plt.Rectangle(np.subtract(chosen, 0.5), 1, 1, fill=False, ec="#c8553d", lw=3)
ax.add_patch(box)
ax.set_xticks(range(len(frame.columns)), frame.columns)
ax.set_yticks(range(len(frame)), [*layers, "all, side by side"])
ax.set(xlabel="columns", title="Accuracy of the ten nearest rows, cross-validated")
fig.colorbar(image, ax=ax)
plt.show()

# %%
# Empty cells are lengths that a layer does not have. Framed is the shortest length of
# all layers together that is within 2% of the best of that row.
#
# Selecting, or fusing
# --------------------
# With ``fuse="select"`` the best single layer is kept, and the others need not be
# computed for new rows. What each choice is worth is judged on the other 40%.

choices = {
    "selected": LayerGrid(widths, tolerance=0.02),
    "selected, class axes": LayerGrid(widths, objective="classes", tolerance=0.02),
    "all, side by side": LayerGrid(widths, fuse="concatenate", tolerance=0.02),
}
for name, choice in choices.items():
    pipeline = make_pipeline(choice, KNeighborsClassifier(10)).fit(X_train, y_train)
    fitted = pipeline[0]
    which = "all" if fitted.layer_ is None else list(layers)[fitted.layer_]
    print(
        f"{name:21} {which:9} {fitted.n_components_:3} columns, "
        f"promised {fitted.best_score_:.3f}, "
        f"held out {pipeline.score(X_test, y_test):.3f}"
    )
