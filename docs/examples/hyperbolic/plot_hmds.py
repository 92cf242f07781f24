"""
===============================
Distances in, points out: h-MDS
===============================

Somebody hands over distances: steps along a taxonomy, times between servers, edits
between texts. Most learners want columns. Multidimensional scaling makes them, and
where distances branch like a tree its hyperbolic form errs by about half as much as the
Euclidean one. New rows are placed in closed form.
"""

# %%
# The distances
# -------------
# The primates of WordNet, with the number of steps between any two along the taxonomy.
# A graph of edges is not enough for scaling: shortest paths complete it. Twenty leaves
# are left out, to come later.

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.csgraph import shortest_path
from sklearn.manifold import ClassicalMDS
from sklearn.metrics import pairwise_distances

from skrep.datasets import load_mammals
from skrep.geometry import poincare
from skrep.graph import relations_from_edges
from skrep.hyperbolic import HyperbolicMDS
from skrep.inspection import PoincareDiskDisplay

mammals = load_mammals()
edges = relations_from_edges(mammals.edges, closure=False).matrix
steps = shortest_path(edges, directed=False, unweighted=True)

primates = np.flatnonzero(mammals.target_names[mammals.target] == "primate")
leaves = np.setdiff1d(primates, mammals.edges[:, 1])
new = np.sort(np.random.default_rng(0).choice(leaves, 20, replace=False))
known = np.setdiff1d(primates, new)
D, D_new = steps[np.ix_(known, known)], steps[np.ix_(new, known)]
D.shape, D_new.shape

# %%
# How well do the points keep them?
# ---------------------------------
# The mean relative error of a distance, beside that of scikit-learn's classical
# scaling, whose distances may be multiplied by the factor that suits them best.


def error(found, true):
    apart = true > 0
    return np.mean(np.abs(found[apart] / true[apart] - 1))


dimensions = (2, 3, 5, 10, 20)
errors = {"Euclidean": [], "hyperbolic": [], "hyperbolic, new rows": []}
for d in dimensions:
    mds = HyperbolicMDS(d, metric="precomputed").fit(D)
    points, placed = mds.embedding_, mds.transform(D_new)
    inner = poincare.pairwise_distances(points) / mds.scale_
    outer = poincare.pairwise_distances(placed, points) / mds.scale_
    errors["hyperbolic"].append(error(inner, D))
    errors["hyperbolic, new rows"].append(error(outer, D_new))
    flat = ClassicalMDS(d, metric="precomputed").fit_transform(D)
    flat = pairwise_distances(flat)
    errors["Euclidean"].append(error(flat * np.sum(flat * D) / np.sum(flat**2), D))

fig, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
styles = {
    "Euclidean": ("#c8553d", "o-"),
    "hyperbolic": ("#1f6f8b", "o-"),
    "hyperbolic, new rows": ("#1f6f8b", "o--"),
}
for name, (color, style) in styles.items():
    ax.plot(dimensions, errors[name], style, color=color, label=name)
ax.set(
    xscale="log",
    xticks=dimensions,
    xticklabels=dimensions,
    xlabel="dimensions",
    ylabel="mean relative error",
    ylim=(0, None),
)
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# Rows that were not there in the fit, known by their distances alone, are placed almost
# as well as those that were.
#
# A picture
# ---------
# The scale that errs least puts nearly all points at the rim of the disc, where nothing
# can be seen. A smaller one errs more, and can be looked at. Lines are the edges of the
# taxonomy, along geodesics; the rings are new.

mds = HyperbolicMDS(2, metric="precomputed", scale=0.6).fit(D)
nodes = np.append(known, new)
points = np.vstack([mds.embedding_, mds.transform(D_new)])
shown = ("primate.n.02", "ape.n.01", "monkey.n.01", "lemur.n.01", "homo.n.02")
names = {
    i: mammals.names[node].partition(".")[0]
    for i, node in enumerate(nodes)
    if mammals.names[node] in shown
}

fig, ax = plt.subplots(figsize=(6, 6), layout="constrained")
PoincareDiskDisplay.from_points(
    points, edges=edges[nodes][:, nodes], names=names, ax=ax
)
ax.plot(*points[len(known) :].T, "o", ms=9, mfc="none", mec="#c8553d")
plt.show()

# %%
# The three arms are the apes, the monkeys, and lemurs and humans together: two
# dimensions have no direction left to tell these two apart. And rings lie on points,
# as siblings do on each other: scaling minimizes errors over all pairs, in which the
# short distances count for little. Whoever wants neighbors kept takes
# :class:`~skrep.hyperbolic.TreeEmbedding` or
# :class:`~skrep.hyperbolic.PoincareEmbedding`; whoever wants distances takes scaling,
# in as many dimensions as the first figure asks for.
