"""
=======================
Removing a batch effect
=======================

Rows from two sites differ in ways that have nothing to do with what they show. A head
that is trained where site and class come together learns the site, and fails where
they do not. The shift between sites can be taken out, and with it no more than needed.
"""

# %%
# Two scanners
# ------------
# The rows are handwritten digits. Half of them come from a second scanner, which lights
# the upper rows of the image more than the lower ones. In the rows to learn from, 95%
# of the digits 0 to 4 come from that scanner, and 5% of the others. In the rows to be
# read later both scanners see all digits alike.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrep.datasets import load_mammals
from skrep.discriminant import DistractorRemoval

rng = np.random.default_rng(0)
images, digit = load_digits(return_X_y=True)
train = rng.random(len(images)) < 0.5
share = np.where(train, np.where(digit < 5, 0.95, 0.05), 0.5)
scanner = (rng.random(len(images)) < share).astype(int)
light = np.repeat(np.linspace(6, -6, 8), 8)
X = images + np.outer(scanner, light) + rng.normal(size=images.shape)

# %%
# Three ways
# ----------
# Leave the rows as they are; remove all that tells the scanner; or remove what tells
# the scanner among rows of the same digit, and keep what tells the digit.
# :class:`~skrep.discriminant.DistractorRemoval` learns this from the training rows. It
# does not need to know the scanner of new ones.

rows = {"as they are": X}
for name, target in (("scanner removed", None), ("digit kept", digit[train])):
    removal = DistractorRemoval().fit(X[train], target, nuisance=scanner[train])
    rows[name] = removal.transform(X)
{
    "leak before": round(removal.leak_before_, 2),
    "leak after": round(abs(removal.leak_after_), 2),
    "target kept": round(removal.target_kept_, 2),
}

# %%
# The leak is the share of the scanner's variance, beyond what the digit tells of it,
# that linear functions of the rows tell. It is zero by construction in the rows of fit,
# and says little of others. So three heads are fitted on the training rows, one to tell
# the scanner and two to tell the digit, and tried on the rest.


def held_out(Z, labels, head):
    return head.fit(Z[train], labels[train]).score(Z[~train], labels[~train])


def logistic():
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500))


scores = {
    name: (
        held_out(Z, scanner, logistic()),
        held_out(Z, digit, logistic()),
        held_out(Z, digit, KNeighborsClassifier(5)),
    )
    for name, Z in rows.items()
}
for name, row in scores.items():
    print(f"{name:16s}", *(f"{score:.3f}" for score in row))

# %%
# As they are, the rows tell the scanner, and heads for the digit pay for it. After
# either removal the scanner cannot be told much better than by tossing a coin; what is
# left with the digit kept is what the digit itself gives away. And the digit is read
# almost as if there had been one scanner.

fig, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for ax, name in zip(axes, ("as they are", "digit kept"), strict=False):
    plane = PCA(2).fit(rows[name][train]).transform(rows[name][~train])
    for value, color in enumerate(("#1f6f8b", "#c8553d")):
        own = scanner[~train] == value
        ax.plot(*plane[own].T, ".", ms=3, color=color, label=f"scanner {value + 1}")
    ax.set(title=f"Held-out rows, {name}", xticks=[], yticks=[])
    ax.set(xlabel="first principal axis", ylabel="second")
low, high = axes[0].get_ylim()
axes[0].set_ylim(low, high + 0.15 * (high - low))
axes[0].legend(frameon=False, markerscale=3, ncols=2, loc="upper center")

places = np.arange(3)
bars = zip((-0.27, 0, 0.27), scores, ("#8fa3b5", "#d9a441", "#7a9e3f"), strict=True)
for shift, name, color in bars:
    axes[2].bar(places + shift, scores[name], 0.25, color=color, label=name)
axes[2].axhline(0.5, color="black", lw=1, ls=":")
axes[2].set(title="Held-out accuracy", ylim=(0, 1.45), yticks=[0, 0.5, 1])
axes[2].set_xticks(places, ["scanner,\nlogistic", "digit,\nlogistic", "digit,\n5-NN"])
axes[2].legend(frameon=False, loc="upper left", fontsize="small")
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# A number as nuisance
# --------------------
# Vectors of names know how long the name is. A number is cut into ten quantile slices,
# and what tells these apart is removed, while the order of the mammal (carnivore, bat,
# rodent, ...) is kept. Held-out rows again: the share of the variance of the length
# that ridge regression explains, and how often the order is right.

mammals = load_mammals()
kept = np.bincount(mammals.target)[mammals.target] >= 20
vectors, order = mammals.lemma["minilm"][kept].astype(float), mammals.target[kept]
length = np.array([float(len(name)) for name in mammals.names[kept]])
train = np.random.default_rng(0).random(len(order)) < 0.6

removal = DistractorRemoval().fit(vectors[train], order[train], nuisance=length[train])
for name, Z in {"before": vectors, "after": removal.transform(vectors)}.items():
    told = held_out(Z, length, RidgeCV(np.logspace(-3, 3, 7)))
    right = held_out(Z, order, logistic())
    print(f"{name:7s} length {told:.2f}   order {right:.3f}")
