"""
=======================
The mammals on the disk
=======================

A tree has little room in the Euclidean plane and much in the hyperbolic one: the
number of nodes grows exponentially with depth, and so does the hyperbolic plane with
the distance from its center. Here are the 1,170 mammals of WordNet in both, trained
with the same loss.
"""

# %%
# Relations
# ---------
# The edges lead from a kind to the one above it. What is trained on is their closure:
# a dog is related to the canines, the carnivores, the placentals and the mammals.

import matplotlib.pyplot as plt
import numpy as np

from skrep.datasets import load_mammals
from skrep.graph import relations_from_edges
from skrep.hyperbolic import PoincareEmbedding
from skrep.inspection import PoincareDiskDisplay
from skrep.metrics import neighbor_map, reconstruction_scores

mammals = load_mammals()
edges = mammals.names[mammals.edges]
closure, labels = relations_from_edges(edges)
tree = relations_from_edges(edges, closure=False).matrix
print(f"{len(labels)} nodes, {tree.nnz} edges, {closure.nnz} relations")

# %%
# Two models, one loss
# --------------------
# Each node is to be nearer to its ancestors than to anything else. In two dimensions
# the start matters: ``init="tree"`` lays out the tree in sectors of the disk. The
# Euclidean model gets a rate of its own, the best of four from 0.3 to 15; the others
# change little.

poincare = PoincareEmbedding(2, affinity="precomputed", init="tree", random_state=0)
poincare.fit(closure)
euclidean = PoincareEmbedding(
    2,
    affinity="precomputed",
    init="tree",
    model="euclidean",
    learning_rate=0.3,
    random_state=0,
).fit(closure)

for metric, model in (("poincare", poincare), ("euclidean", euclidean)):
    points = model.embedding_
    scores = reconstruction_scores(points, closure, metric=metric)
    print(
        f"{metric:9}  mean rank {scores.mean_rank:6.2f}   MAP {scores.map:.3f}   "
        f"MAP of neighbors {neighbor_map(points, tree, metric=metric):.3f}"
    )

# %%
# The mean rank says how many nodes come before a true ancestor, itself counted: 1 is
# perfect. The last column asks for something else, the direct neighbors in the tree, to
# which the training gave no weight; see :ref:`graph_scores`.
#
# The picture
# -----------
# The larger orders have a color each. On the disk the lines are geodesics, which bend
# towards the center: the way from one leaf to another leads up the tree and down
# again.

orders = dict(zip(mammals.names, mammals.target_names[mammals.target], strict=True))
order = np.array([orders[label] for label in labels])
known, counts = np.unique(order, return_counts=True)
large = known[np.argsort(counts)[-8:]]
order = np.where(np.isin(order, large), order, "other")
rows = {str(label).split(".")[0]: row for row, label in enumerate(labels)}
shown = ("mammal", "carnivore", "dog", "cat", "rodent", "whale", "bat", "primate")
names = {rows[name]: name for name in shown}

fig, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
PoincareDiskDisplay.from_estimator(
    poincare, edges=tree, y=order, names=names, ax=axes[0]
)
axes[0].get_legend().remove()
axes[0].set_title("Poincaré disk")

points = euclidean.embedding_
child, parent = tree.nonzero()
axes[1].plot(
    *points[np.column_stack([child, parent])].transpose(2, 1, 0),
    color="0.6",
    linewidth=0.5,
    zorder=1,
)
for label in np.unique(order):
    axes[1].scatter(*points[order == label].T, s=12, linewidths=0, label=label)
for row, name in names.items():
    axes[1].annotate(name, points[row], fontsize="small")
axes[1].set_aspect("equal")
axes[1].set_axis_off()
axes[1].set_title("Euclidean plane, same loss")
axes[1].legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
plt.show()

# %%
# In more dimensions
# ------------------
# Euclidean space has room as well, if it has many dimensions. What the curvature is
# worth shrinks as columns are added, so the Euclidean model should always be printed
# beside, again at the best of these rates:

rates = {("euclidean", 5): 0.3, ("euclidean", 50): 15.0}
for n_components in (5, 50):
    for model in ("poincare", "euclidean"):
        embedding = PoincareEmbedding(
            n_components,
            affinity="precomputed",
            model=model,
            learning_rate=rates.get((model, n_components), 1.2),
            random_state=0,
        ).fit(closure)
        scores = reconstruction_scores(embedding.embedding_, closure, metric=model)
        print(
            f"{n_components:2} columns, {model:9}  mean rank {scores.mean_rank:6.2f}   "
            f"MAP {scores.map:.3f}"
        )
