"""
===============================
What a large gradient step sees
===============================

A first layer at random looks everywhere alike. One large gradient step turns its
neurons towards the direction that tells the response, and a second one towards what
that direction leads to. The weights show it, and so does a regression on the neurons.
"""

# %%
# A staircase
# -----------
# Rows of 20 columns, and a response of two directions, y = u + uv with noise. On
# average v tells nothing: a least squares fit has no use for it. It matters where u is
# known.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeCV

from skrep.datasets import make_index_model
from skrep.index_model import GradientStepFeatures
from skrep.metrics import subspace_distance

X, Y, components = make_index_model(
    6000, 20, links=["linear", "product"], random_state=0
)
y = Y.sum(axis=1)
known, new = slice(0, 2000), slice(2000, 6000)

steps = {
    "random": GradientStepFeatures(step=0, random_state=0),
    "one step": GradientStepFeatures(random_state=0),
    "two steps": GradientStepFeatures(n_steps=2, random_state=0),
}
colors = {"random": "#8fa3b5", "one step": "#1f6f8b", "two steps": "#c8553d"}
for features in steps.values():
    features.fit(X[known], y[known])

# %%
# The spectrum of the weights
# ---------------------------
# Singular values of the weights on whitened rows are those of the inputs of the
# neurons, over the root of the number of rows. At random they fill a band whose edge is
# known. A step adds a spike: a value far outside, whose singular vector is u. That of v
# has hardly left the band, by the second moments alone, which add no spike. The second
# step makes one of it.

edge = 1 + np.sqrt(512 / 20)
fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
for row, (name, features) in enumerate(steps.items()):
    inputs = (X[known] - features.mean_) @ features.weights_ / np.sqrt(2000)
    values = np.linalg.svd(inputs, compute_uv=False)[:20]
    out = values > 1.1 * edge
    height = np.full(len(values), -row)
    ax.plot(values, height, "|", ms=16, mew=1.5, color=colors[name])
    ax.plot(values[out], height[out], "o", ms=11, mfc="none", mec=colors[name])
ax.axvline(edge, color="black", ls=":", lw=1)
ax.annotate("edge of random weights", (edge, 0.55), (4, 0), textcoords="offset points")
ax.set(
    xscale="log",
    xlabel="singular value of the weights",
    xlim=(2.5, 150),
    ylim=(-2.6, 0.9),
    xticks=[3, 10, 30, 100],
    xticklabels=["3", "10", "30", "100"],
)
ax.set_yticks([0, -1, -2], list(steps))
ax.minorticks_off()
ax.spines[["top", "right", "left"]].set_visible(False)
ax.tick_params(left=False)
plt.show()

# %%
# `spikes_` has the directions as coefficients on the raw columns. The first spike is u,
# and the first two span u and v; the distance is the sine of the largest angle.

for name in ("one step", "two steps"):
    spikes = steps[name].spikes_[: 1 if name == "one step" else 2]
    distance = subspace_distance(spikes, components[: len(spikes)])
    print(f"{name}: {len(spikes)} direction(s), distance {distance:.2f}")

# %%
# What a regression makes of it
# -----------------------------
# A ridge regression on 512 neurons, fitted on the same rows as they were, and scored on
# rows that neither has seen. The links are those of
# :func:`~skrep.datasets.make_index_model`, and the staircase above.

alphas = np.logspace(-3, 5, 17)


def held_out(features, X, y):
    head = RidgeCV(alphas).fit(
        features.fit(X[known], y[known]).transform(X[known]), y[known]
    )
    return head.score(features.transform(X[new]), y[new])


scores = {"u + uv": [held_out(features, X, y) for features in steps.values()]}
for link in ("ratio", "even", "sine", "cubic"):
    rows, response, _ = make_index_model(6000, 20, links=link, random_state=0)
    scores[link] = [held_out(features, rows, response) for features in steps.values()]

fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for place, link in enumerate(scores):
    ax.plot(scores[link], [place] * 3, "-", color="#d5dce2", lw=3, zorder=1)
for k, name in enumerate(steps):
    points = [found[k] for found in scores.values()]
    size, face = (11, "none") if name == "two steps" else (8, colors[name])
    ax.plot(
        points,
        range(len(scores)),
        "o",
        ms=size,
        mfc=face,
        color=colors[name],
        label=name,
    )
ax.axvline(1 / (1 + 0.25**2), color="black", ls=":", lw=1)
ax.annotate(
    "all but the noise", (0.937, 4.4), (-3, 0), textcoords="offset points", ha="right"
)
ax.set_yticks(range(len(scores)), list(scores))
ax.set(xlabel="$R^2$ on held-out rows", xlim=(0.3, 1), ylim=(-0.6, 4.8))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower left")
plt.show()

# %%
# One step is worth most where a single direction bends: the sine and the cube are
# beyond random features of this number. The square has no spike, as it is even, and yet
# one step helps: its second moments turn the neurons. A second step adds little here.
# It moves neurons further along the same directions, and what is new in the staircase
# is seen by second moments already. With ``activation="erf"``, which has none, an even
# link stays as it was.
