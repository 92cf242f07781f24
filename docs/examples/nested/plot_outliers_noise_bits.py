"""
=====================================
Outliers, noise and bits: three steps
=====================================

Shorter vectors are not only a matter of variance. A few broken readings can turn the
axes, the weak axes may be noise, and the numbers that are left may be stored with fewer
bits. Here is one small picture for each.
"""

# %%
# A few broken readings
# ---------------------
# The rows are narrow in the first column and wide in the second. In three of 300 the
# first column holds 40, as a sensor that fails may report.
# :class:`~sklearn.decomposition.PCA` counts squared gaps and turns to the three;
# :class:`~skrep.nested.MarginProjection` looks at the smaller gaps alone and turns
# much less. Below are the angles to the first principal axis of the rows before
# the failure.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import ortho_group
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from skrep.datasets import load_mammals
from skrep.metrics import recall_at_k
from skrep.nested import (
    MarginProjection,
    NestedProjection,
    NoisePruner,
    ScalarQuantizer,
)

rng = np.random.default_rng(0)
clean = rng.normal(size=(300, 2)) * [1, 3]
X = clean.copy()
X[:3, 0] = 40

true_axis = PCA(1).fit(clean).components_[0]
first = {
    "PCA": PCA(1).fit(X).components_[0],
    "MarginProjection": MarginProjection(1, random_state=0).fit(X).components_[0],
}
for name, axis in first.items():
    angle = np.degrees(np.arccos(min(1, abs(axis @ true_axis))))
    print(f"{name:17} {angle:4.1f} degrees")

fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.scatter(*X[3:].T, s=9, color="#8fa3b5", label="sound rows")
ax.scatter(*X[:3].T, s=28, color="black", marker="x", label="broken reading")
for (name, axis), color in zip(first.items(), ["#c8553d", "#1f6f8b"], strict=True):
    ax.axline((0, 0), tuple(axis), color=color, lw=2, label=name)
ax.set(
    xlabel="first column",
    ylabel="second column",
    ylim=(-12, 20),
    xlim=(-6, 43),
    aspect="equal",
)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.6, 1))
plt.show()

# %%
# How many axes are signal
# ------------------------
# The rows have 60 columns, turned at random. Their true variances are 1, which is
# noise, but for five axes of 8, 5, 3.5, 2.5 and 1.2. Of 300 rows noise alone makes
# eigenvalues up to the Marchenko-Pastur edge. :class:`~skrep.nested.NoisePruner` keeps
# the axes above it that other rows confirm, and says why. The fifth axis is too weak
# to be seen with so few rows.

variances = np.ones(60)
variances[:5] = [8, 5, 3.5, 2.5, 1.2]
turn = ortho_group.rvs(60, random_state=0)
X = (rng.normal(size=(300, 60)) * np.sqrt(variances)) @ turn

pruner = NoisePruner(random_state=0).fit(X)
print(pruner.reason_)

n_signal = pruner.n_signal_
rank = np.arange(1, 61)
fig, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
for part, color, label in (
    (slice(None, n_signal), "#1f6f8b", f"kept: n_signal_ = {n_signal}"),
    (slice(n_signal, None), "#b8c4d0", f"pruned: n_noise_ = {pruner.n_noise_}"),
):
    ax.scatter(rank[part], pruner.eigenvalues_[part], s=18, color=color, label=label)
ax.axhline(pruner.edge_, color="#c8553d", label="Marchenko-Pastur edge")
ax.axvline(n_signal + 0.5, color="gray", ls=":", lw=1)
ax.set(xlabel="axis", ylabel="eigenvalue", ylim=(0, None))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# Fewer bytes per row
# -------------------
# Definitions of mammals are stored, and names search for their own: recall is the share
# of names whose definition is among the ten nearest. 40% of the mammals are held out;
# their names search their definitions, and all fits see the others alone.
# :class:`~skrep.nested.ScalarQuantizer` codes the definitions; the names are not stored
# and stay as they are. They are compared with the rows that the codes stand for. The 64
# columns learned from pairs of names and definitions; the 384 learned from none.

mammals = load_mammals()
definitions, names = mammals.gloss["minilm"], mammals.lemma["minilm"]
train, test = train_test_split(np.arange(len(names)), test_size=0.4, random_state=0)

pairs = NestedProjection(objective="pairs")
pairs.fit(definitions[train], pairs=names[train])
twin = pairs.counterpart(names[train])
lengths = {
    "all 384 columns": (definitions, names),
    "first 64 of pairs": (
        pairs.prefix(64).transform(definitions),
        twin.prefix(64).transform(names),
    ),
}

curves = {}
for length, (documents, queries) in lengths.items():
    stored, read = {"float32": documents[test]}, {"float32": documents[test]}
    for name, bits in (("8 bits", 8), ("1 bit", 1)):
        quantizer = ScalarQuantizer(bits=bits).fit(documents[train])
        stored[name] = quantizer.transform(documents[test])
        read[name] = quantizer.inverse_transform(stored[name])
    curves[length] = [
        (name, stored[name][0].nbytes, recall_at_k(queries[test], read[name], k=10))
        for name in stored
    ]
    for name, n_bytes, recall in curves[length]:
        print(f"{length:18} {name:8} {n_bytes:5} bytes  recall {recall:.3f}")

# %%
# One line for either length; its points are float32, 8 bits and 1 bit, from right to
# left.

fig, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for (length, points), color in zip(curves.items(), ["#8fa3b5", "#1f6f8b"], strict=True):
    labels, n_bytes, recalls = zip(*points, strict=True)
    ax.plot(n_bytes, recalls, marker="o", color=color, label=length)
    for label, x, y in points:
        ax.annotate(
            label, (x, y), (0, 7), textcoords="offset points", ha="center", fontsize=8
        )
ticks = sorted({n for points in curves.values() for _, n, _ in points})
ax.set(xscale="log", xlabel="bytes per row", ylabel="recall at 10", ylim=(0, 0.65))
ax.set_xticks(ticks, labels=ticks)
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
plt.show()
