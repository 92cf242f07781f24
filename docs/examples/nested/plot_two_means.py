"""
================================
Queries and documents, two means
================================

Someone types the name of an animal and looks for its definition. Names and definitions
come from one encoder, yet they sit in different places. A projection that centers both
by the mean of the definitions carries that difference into every cosine. A twin with
its own mean does not.
"""

# %%
# Two sides
# ---------
# Names are queries, definitions are documents, and row i of one belongs to row i of the
# other. We hold out 40% of the mammals. No fit sees their names or definitions; then
# each of the names searches *all* definitions for its own.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from skrep.datasets import load_mammals
from skrep.inspection import PrefixCurveDisplay
from skrep.metrics import recall_at_k
from skrep.nested import NestedProjection

mammals = load_mammals()
kept = np.bincount(mammals.target)[mammals.target] >= 20
order = mammals.target_names[mammals.target[kept]]
train, test = train_test_split(
    np.arange(len(order)), test_size=0.4, stratify=order, random_state=0
)
documents, queries = mammals.gloss["minilm"][kept], mammals.lemma["minilm"][kept]
len(train), len(test)

# %%
# With the axes and the mean of definitions, the held-out names lie to one side of the
# held-out definitions (large dots are the means).
# :meth:`~skrep.nested.NestedProjection.counterpart` takes other names, without asking
# what they belong to, and gives the twin for queries: the same axes, its own mean.

variance = NestedProjection().fit(documents[train])
twin = variance.counterpart(queries[train])

fig, axes = plt.subplots(
    1, 2, figsize=(7.5, 3.6), sharex=True, sharey=True, layout="constrained"
)
for ax, encoder, title in zip(
    axes, (variance, twin), ("one mean", "two means"), strict=True
):
    for rows, color, label in (
        (variance.transform(documents[test]), "#8fa3b5", "definitions"),
        (encoder.transform(queries[test]), "#c8553d", "names"),
    ):
        ax.scatter(*rows[:, :2].T, s=9, color=color, alpha=0.5, label=label)
        ax.scatter(*rows[:, :2].mean(axis=0), s=130, color=color, edgecolor="black")
    ax.set(title=title, xlabel="first axis")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("second axis")
axes[1].legend(frameon=False)
plt.show()

# %%
# Recall at every length
# ----------------------
# For the second mean a sample of queries is enough. The same sample serves another
# objective: "mined" lets names and definitions pass for pairs that are each other's
# nearest. "pairs" is told which belong together. Both look for axes along which pairs
# differ little and rows differ much.

colors = {
    "variance, one mean": "#c8553d",
    "variance, two means": "#8fa3b5",
    "mined": "#7a9e3f",
    "pairs": "#1f6f8b",
}


def fitted(documents, queries):
    variance = NestedProjection().fit(documents)
    mined = NestedProjection(objective="mined").fit(documents, queries=queries)
    pairs = NestedProjection(objective="pairs").fit(documents, pairs=queries)
    yield variance, variance
    for nested in (variance, mined, pairs):
        yield nested, nested.counterpart(queries)


fig, axes = plt.subplots(1, 2, figsize=(7.5, 3.6), sharey=True, layout="constrained")
for ax, encoder in zip(axes, ("minilm", "e5"), strict=True):
    D, Q = mammals.gloss[encoder][kept], mammals.lemma[encoder][kept]
    ways = fitted(D[train], Q[train])
    for (name, color), (nested, twin) in zip(colors.items(), ways, strict=True):
        PrefixCurveDisplay.from_estimator(
            nested,
            D,
            queries=Q[test],
            query_estimator=twin,
            relevant=test,
            score="recall_at_k",
            name=name,
            ax=ax,
            curve_kwargs={"color": color},
        )
    ax.set(title={"minilm": "MiniLM", "e5": "E5"}[encoder], ylim=(0, 0.5))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("recall at 10")
axes[1].set_ylabel("")
axes[0].get_legend().remove()
axes[1].legend(frameon=False, loc="lower right")
plt.show()

# %%
# Three steps, each of which can be taken without the next. The second mean helps at
# every length but 8. Mined pairs help most where vectors are short; at the greatest
# lengths they fall behind the two plain means. True pairs are ahead of all others up to
# 128, and at full length the three ways with two means are close.
#
# One thing to know about "mined" here: the definition of every name in the sample is
# among the definitions of the fit. Queries should come from the traffic of the corpus
# that they search.
#
# The twin in a pipeline
# ----------------------
# A pipeline fits its steps again, and on queries a twin would find axes of their own,
# which have nothing to do with those of the documents. Inside a
# :class:`~sklearn.frozen.FrozenEstimator` it stays as it is, whatever is fitted or
# cloned around it.

nested = NestedProjection(64).fit(documents[train])
twin = nested.counterpart(queries[train])
found = {}
for name, step in {"frozen": FrozenEstimator(twin), "fitted again": twin}.items():
    pipeline = make_pipeline(step, Normalizer()).fit(queries[train])
    asking, searched = pipeline.transform(queries[test]), nested.transform(documents)
    found[name] = round(recall_at_k(asking, searched, relevant=test), 3)
found
