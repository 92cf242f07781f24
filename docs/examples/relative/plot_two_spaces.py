"""
============================
Two spaces, one description
============================

Two spaces hold the same twelve things. The second is the first after a rotation, a
change of scale and a shift, as a second training of the same encoder would give it. No
coordinate survives, yet every angle around the mean does: described by their cosines to
the same six anchors, the things look the same in both.
"""

# %%
# The spaces
# ----------
# Row *i* is the same thing in both. For the pictures the things are sorted by their
# direction from the mean.

import matplotlib.pyplot as plt
import numpy as np

from skrep.datasets import make_parallel_spaces
from skrep.relative import RelativeRepresentation

X, Y = make_parallel_spaces(
    n_samples=12, n_features=2, relation="similarity", random_state=7
)
around = np.argsort(np.arctan2(*(X - X.mean(axis=0)).T))
X, Y = X[around], Y[around]
float(np.abs(X - Y).max())

# %%
# The description
# ---------------
# The first transformer chooses its anchors; its counterpart takes the same rows of the
# other space. Whitening and standardization are left out, so that a coordinate is a
# plain cosine.

relative = RelativeRepresentation(
    n_anchors=6, selection="farthest", whiten=None, scale=False
).fit(X)
twin = relative.counterpart(Y)
in_x, in_y = relative.transform(X), twin.transform(Y)
float(np.abs(in_x - in_y).max())

# %%
# In pictures
# -----------
# Left, the two spaces: a color is a thing, a numbered star an anchor, the cross the
# mean. Right, the descriptions: one row for each thing, one column for each anchor.

anchors = relative.anchor_indices_
colors = plt.colormaps["viridis"](np.linspace(0, 0.95, len(X)))
fig, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained")
for ax, points, title in [(axes[0], X, "space A"), (axes[1], Y, "space B")]:
    mean = points.mean(axis=0)
    ax.scatter(*points.T, c=colors, s=45)
    ax.scatter(*points[anchors].T, c=colors[anchors], s=160, marker="*", ec="black")
    for number, place in enumerate(points[anchors], start=1):
        ax.annotate(number, place, xytext=(9, 5), textcoords="offset points")
    ax.scatter(*mean, c="black", s=90, marker="+")
    reach = 1.2 * np.abs(points - mean).max()
    ax.set(title=title, aspect="equal")
    ax.set(xlim=mean[0] + [-reach, reach], ylim=mean[1] + [-reach, reach])
described = [(axes[2], in_x, "A described"), (axes[3], in_y, "B described")]
for ax, cosines, title in described:
    image = ax.imshow(cosines, vmin=-1, vmax=1, cmap="RdBu_r", aspect="auto")
    ax.scatter([-1] * len(X), range(len(X)), c=colors, s=45)
    ax.set(title=title, xlabel="anchors", xlim=(-1.5, len(anchors) - 0.5))
    ax.set_xticks(range(len(anchors)), range(1, len(anchors) + 1))
    ax.set(yticks=[], frame_on=False)
fig.colorbar(image, ax=axes[2:], label="cosine", ticks=[-1, 0, 1])
plt.show()

# %%
# Real encoders agree less perfectly:
# :ref:`sphx_glr_auto_examples_relative_plot_stitching.py` uses two of them.
