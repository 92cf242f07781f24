"""
===========================================
Missing facts of a knowledge graph, guessed
===========================================

Facts often come as triples: a head, a relation, a tail. A knowledge graph embedding
learns a vector for every entity and a move for every relation, and then says which
triples that nobody wrote down are likely. Here the facts are about the carnivores and
primates of WordNet, a part of them is hidden, and models of few dimensions look for it.
"""

# %%
# Facts as triples
# ----------------
# Two relations: the parent of an animal, and its further ancestors. All parents are
# known; one in five of the ancestors is hidden.

import matplotlib.pyplot as plt
import numpy as np

from skrep.datasets import load_mammals
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
# Few dimensions
# --------------
# The mean of one over the rank of the true end, among all entities that make no known
# triple. All models gain by wider vectors, and with eight numbers distances after a
# rotation come before products, hyperbolic ones first. In narrower ones the curves
# cross, by no more than another seed changes: hidden triples are what to choose by.

dimensions = (2, 4, 8)
scores = {}
for model in ("complex", "rote", "roth"):
    for d in dimensions:
        embedding = KnowledgeGraphEmbedding(
            d,
            model=model,
            max_epochs=15,
            batch_size=250,
            lr=0.1,
            regularization=1e-3,
            random_state=0,
        ).fit(known)
        scores[model, d] = embedding.score(new)

fig, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
names = {
    "complex": ("complex products", "#7a7a7a"),
    "rote": ("rotations, Euclidean", "#c8553d"),
    "roth": ("rotations, hyperbolic", "#1f6f8b"),
}
for model, (label, color) in names.items():
    ax.plot(
        dimensions,
        [scores[model, d] for d in dimensions],
        "o-",
        color=color,
        label=label,
    )
ax.set(
    xscale="log",
    xticks=dimensions,
    xticklabels=dimensions,
    xlabel="numbers of a vector",
    ylabel="filtered MRR of hidden triples",
    ylim=(0, 1),
)
ax.minorticks_off()
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Asking
# ------
# Every entity is scored in the place of the tail. These are the ancestors that the last
# model finds most likely for one animal, written down or not:

animal = new[0, 0]
likely = embedding.candidate_scores([(animal, "ancestor", animal)], "tail")[0]
best = embedding.entities_[np.argsort(-likely)[:5]]
print(animal, "->", ", ".join(best))

# %%
# Ranks of head and tail apart: many animals have one ancestor, so that its descendants
# can only be found as a crowd, and tails are much easier than heads.

for side in ("head", "tail"):
    found = link_prediction_scores(embedding, new, known=known, side=side)
    print(f"{side}: MRR {found.mrr:.2f}, first {found.hits_at_1:.0%}")

# %%
# The vectors go into tables by name:

embedding.entity_frame().iloc[:3, :4].round(2)
