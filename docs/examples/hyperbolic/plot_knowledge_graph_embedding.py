"""
===========================================
Missing facts of a knowledge graph, guessed
===========================================

Facts often come as triples: a head, a relation, a tail. A knowledge graph embedding
learns a vector for every entity and a move for every relation, and then says which
triples that nobody wrote down are likely. Here the facts are about the carnivores and
primates of WordNet, a part of them is hidden, and a model looks for it.
"""

# %%
# Facts as triples
# ----------------
# Two relations: the parent of an animal, and its further ancestors. All parents are
# known; one in five of the ancestors is hidden.

import matplotlib.pyplot as plt
import numpy as np

from skrep.datasets import load_mammals
from skrep.geometry import poincare
from skrep.graph import relations_from_edges
from skrep.hyperbolic import KnowledgeGraphEmbedding
from skrep.metrics import link_prediction_scores

mammals = load_mammals()
orders = mammals.target_names[mammals.target]
kept = np.isin(orders, ["carnivore", "primate"])
ancestors = relations_from_edges(mammals.edges).matrix.tocoo()
parents = {tuple(edge) for edge in mammals.edges.tolist()}
triples = np.array(
    [
        (
            mammals.names[u],
            "parent" if (u, v) in parents else "ancestor",
            mammals.names[v],
        )
        for u, v in zip(ancestors.row.tolist(), ancestors.col.tolist(), strict=True)
        if kept[u] and kept[v]
    ]
)
further = np.flatnonzero(triples[:, 1] == "ancestor")
rng = np.random.default_rng(0)
hidden = np.zeros(len(triples), dtype=bool)
hidden[rng.choice(further, len(further) // 5, replace=False)] = True
known, new = triples[~hidden], triples[hidden]
print(f"{len(known)} known triples, {len(new)} hidden; one of them: {new[0]}")

# %%
# Asking
# ------
# Two numbers per entity will do here, and can be looked at afterwards. Every entity is
# scored in the place of the tail. These are the ancestors that the model finds most
# likely for one animal, written down or not:

embedding = KnowledgeGraphEmbedding(
    2, model="roth", max_epochs=40, batch_size=300, lr=0.1, random_state=0
).fit(known)
animal = new[0, 0]
likely = embedding.candidate_scores([(animal, "ancestor", animal)], "tail")[0]
best = embedding.entities_[np.argsort(-likely)[:5]]
print(animal, "->", ", ".join(best))

# %%
# How well are hidden triples found? Of all entities that make no known triple, the true
# one has a rank. An animal has few ancestors, and an ancestor has many animals below
# it, which can only be found as a crowd: tails are much easier than heads.

for side in ("head", "tail"):
    found = link_prediction_scores(embedding, new, known=known, side=side)
    print(f"{side}: MRR {found.mrr:.2f}, first {found.hits_at_1:.0%}")

# %%
# A map of the entities
# ---------------------
# Nobody has told the model of orders: that primates keep to themselves follows from the
# facts. The relation "ancestor" has learned the curvature in which its map is drawn.

relation = embedding.relations_.tolist().index("ancestor")
c = float(embedding.curvatures_[relation])
points = poincare.exp_map_origin(embedding.entity_embedding_, curvature=-c) * np.sqrt(c)
order_of = dict(zip(mammals.names.tolist(), orders.tolist(), strict=True))
order = np.array([order_of[name] for name in embedding.entities_])

fig, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.add_patch(plt.Circle((0, 0), 1, fill=False, color="#aaaaaa"))
for name, color in (("carnivore", "#c8553d"), ("primate", "#1f6f8b")):
    ax.scatter(*points[order == name].T, s=14, color=color, label=name)
for name in ("carnivore.n.01", "dog.n.01", "cat.n.01", "primate.n.02", "ape.n.01"):
    x, y = points[embedding.entities_ == name][0]
    ax.annotate(name.partition(".")[0], (x, y), fontsize=9, weight="bold")
ax.set(xlim=(-1.02, 1.02), ylim=(-1.02, 1.02), aspect="equal")
ax.legend(frameon=False, loc="upper left")
ax.axis("off")
plt.show()

# %%
# The vectors go into tables by name:

embedding.entity_frame().iloc[:3].round(2)
