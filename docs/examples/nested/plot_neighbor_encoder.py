"""
==================================
Neighbors: trained, or closed form
==================================

Vectors that will be searched should keep near what was near. A network can be trained
for that on pairs of neighbors (TLDR), and a linear one has its solution in closed form.
What does the training add?
"""

# %%
# Two ways to the same end
# ------------------------
# The vectors are MiniLM's, of definitions of mammals. A name searches for its
# definition, and recall@10 is the share of names that find it among the first ten.
# Neither way sees a name: names only shift to their own mean, in ``counterpart``.

import matplotlib.pyplot as plt
import numpy as np

from skrep.datasets import load_mammals
from skrep.metrics import recall_at_k
from skrep.nested import NeighborEncoder, NestedProjection

mammals = load_mammals()
definitions, names = mammals.gloss["minilm"], mammals.lemma["minilm"]
lengths = [4, 8, 16, 32]


def recalls(model):
    twin = model.counterpart(names)
    found = []
    for k in lengths:
        queries, documents = (
            twin.prefix(k).transform(names),
            model.prefix(k).transform(definitions),
        )
        found.append(recall_at_k(queries, documents, k=10))
    return found


ways = {
    "closed form": NestedProjection(32, objective="neighbors"),
    "trained from the closed form": NeighborEncoder(32, random_state=0),
    "trained from random weights": NeighborEncoder(
        32, init="random", lr=3e-3, random_state=0
    ),
    "perceptron from the closed form": NeighborEncoder(
        32, hidden=(64,), random_state=0
    ),
    "variance (PCA)": NestedProjection(32),
}
scores = {name: recalls(way.fit(definitions)) for name, way in ways.items()}
for name, found in scores.items():
    print(f"{name:32}", *(f"{value:.3f}" for value in found))

# %%
# A network is trained at one length, here 32, and its outputs are turned to their
# principal axes, which makes its prefixes fair cuts. Training that starts from the
# closed form stays there. So for a linear map the closed form is the better tool: it
# takes a fraction of the time.

colors = ["#1f6f8b", "#c8553d", "#d9a441", "#7a9e3f", "#8fa3b5"]
fig, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
for (name, found), color in zip(scores.items(), colors, strict=True):
    ax.plot(lengths, found, "o-", color=color, label=name, ms=4)
ax.set_xscale("log", base=2)
ax.set_xticks(lengths, map(str, lengths))
ax.set(xlabel="columns", ylabel="recall@10")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# A lower loss is no better search
# --------------------------------
# Both losses fall, and that from random weights, at ten times the rate, falls lower.
# Its search is behind all the same at full length: what the projector behind the
# encoder learns is thrown away.

fig, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
for name, color in zip(list(ways)[1:3], colors[1:3], strict=True):
    losses = [epoch["train_loss"] for epoch in ways[name].history_]
    ax.plot(np.arange(1, len(losses) + 1), losses, color=color, label=name)
ax.set(xlabel="epoch", ylabel="loss of training")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
