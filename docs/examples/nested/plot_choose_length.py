"""
=================
Choosing a length
=================

Vectors of 384 numbers are long for an index of millions of rows. How much is lost when
they are cut depends on how they are cut, and on what they are for. Prefix curves show
it, and a search picks the shortest length that is good enough.
"""

# %%
# The vectors
# -----------
# The vectors are MiniLM's, of definitions of mammals from WordNet, and the classes are
# the orders (carnivore, bat, rodent, ...) with at least 20 members. Whatever is fitted
# or chosen below sees 60% of the rows; all curves are drawn for the other 40%.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from skrep.datasets import load_mammals
from skrep.inspection import PrefixCurveDisplay
from skrep.metrics import prefix_scores, recall_at_k
from skrep.model_selection import PrefixSearchCV
from skrep.nested import NestedProjection, ScalarQuantizer, Truncate

mammals = load_mammals()
kept = np.bincount(mammals.target)[mammals.target] >= 20
X = mammals.gloss["minilm"][kept]
order = mammals.target_names[mammals.target[kept]]
train, test = train_test_split(
    np.arange(len(X)), test_size=0.4, stratify=order, random_state=0
)
len(train), len(test)

# %%
# Prefix curves
# -------------
# Four ways to shorten: keep the first columns as they are, project onto principal
# axes, onto axes that tell the orders apart, or onto a mixture of the last two. Each is
# fitted once and gives every length. Two questions are asked of each prefix: whether
# the ten nearest rows tell the order of a row, and whether they are the rows that were
# nearest at full length.

ways = {
    "cut": Truncate(),
    "variance": NestedProjection(normalize=True),
    "classes": NestedProjection(objective="classes", normalize=True),
    "both": NestedProjection(objective={"classes": 1, "variance": 1}, normalize=True),
}
colors = {
    "cut": "#c8553d",
    "variance": "#8fa3b5",
    "classes": "#1f6f8b",
    "both": "#7a9e3f",
}

fig, axes = plt.subplots(1, 2, figsize=(7.5, 3.4), sharey=True, layout="constrained")
for name, way in ways.items():
    way.fit(X[train], order[train])
    scores = prefix_scores(way, X[test], order[test])
    for ax, score in zip(axes, ("knn", "neighbor_overlap"), strict=True):
        PrefixCurveDisplay.from_scores(
            scores, score=score, name=name, ax=ax, curve_kwargs={"color": colors[name]}
        )
axes[0].set(title="Do neighbors tell the order?", ylabel="accuracy", ylim=(0, 1.03))
axes[1].set(title="Are neighbors those of full length?", ylabel="share kept")
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False, loc="lower right")
axes[1].get_legend().remove()
plt.show()

# %%
# The two pictures disagree, and they should. The orders ask for little: 8 class axes
# serve them as well as any length, and no worse than all 384 numbers as they are. But
# from 16 up these axes are the worst choice for keeping the neighbors as they were:
# what does not tell orders apart is damped, at full length too. For that, principal
# axes are best while vectors are short, and the cut when it keeps most of them. The
# mixture lies between the two kinds of axes that it mixes.
#
# The shortest that is good enough
# --------------------------------
# :class:`~skrep.model_selection.PrefixSearchCV` chooses by cross-validation. The four
# ways compete under a logistic regression, and the shortest prefix within 2% of the
# best mean score is kept. One fit for each split and way serves all lengths.

search = PrefixSearchCV(
    list(ways.items()), LogisticRegression(C=10, max_iter=1000), tolerance=0.02, cv=3
)
search.fit(X[train], order[train])
search.best_candidate_, search.best_prefix_

# %%
# On the held-out rows, beside the same head on the whole vectors:

whole = LogisticRegression(C=10, max_iter=1000).fit(X[train], order[train])
{
    f"{search.best_prefix_} numbers": round(search.score(X[test], order[test]), 3),
    f"{X.shape[1]} numbers": round(whole.score(X[test], order[test]), 3),
}

# %%
# The scores behind the choice are in `cv_results_`. What lies above the dotted line is
# good enough, and the ring marks the shortest. The class axes alone stay below: some of
# what they damp does help the head. Principal axes cross the line later, and the cut
# near full length.

results = search.cv_results_
names = np.array(results["param_candidate"])
curves = {
    name: {
        "prefix": results["param_prefix"][names == name],
        "accuracy": results["mean_test_score"][names == name],
    }
    for name in ways
}

fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
display = PrefixCurveDisplay.from_scores(
    curves, ax=ax, curve_kwargs=[{"color": colors[name]} for name in curves]
)
for line in display.longest_lines_:
    line.remove()
ax.axhline(0.98 * results["mean_test_score"].max(), color="black", ls=":", lw=1)
ax.plot(search.best_prefix_, search.best_score_, "o", ms=13, mfc="none", mec="black")
ax.set(ylabel="accuracy, mean over the splits", ylim=(0.7, 0.92))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
plt.show()

# %%
# In a pipeline
# -------------
# The search is a transformer, too. Here it shortens the vectors, a quantizer stores
# each number in one byte, and neighbors decide. The length is chosen from three, by the
# rows that the pipeline is fitted on.

short = PrefixSearchCV(
    ways["both"], LogisticRegression(C=10, max_iter=1000), prefixes=[8, 16, 32], cv=3
)
pipeline = make_pipeline(short, ScalarQuantizer(), KNeighborsClassifier(10))
pipeline.fit(X[train], order[train])
codes = pipeline[:-1].transform(X[test])
{
    "bytes per row": codes[0].nbytes,
    "before": X[0].nbytes,
    "accuracy": round(pipeline.score(X[test], order[test]), 3),
}

# %%
# When vectors were trained to be cut
# -----------------------------------
# WordLlama was trained with a Matryoshka loss for lengths of 64, 128 and 256. Then the
# plain cut is a candidate, and the cheapest: no fit, and an index that is there already
# can be cut in place. The task is now to find the definition of a mammal by its name,
# among all definitions, and a score of one's own measures that in the search. `blocks`
# keeps the principal axes inside the trained blocks of columns.

definitions = mammals.gloss["wordllama"][kept]
lemmas = mammals.lemma["wordllama"][kept]


def recall(transformer, X, y, pairs, place):
    queries, documents = (
        transformer.transform(pairs),
        transformer.transform(definitions),
    )
    return recall_at_k(queries, documents, relevant=place)


candidates = {
    "cut": Truncate(),
    "PCA": PCA(svd_solver="covariance_eigh"),
    "PCA in blocks": NestedProjection(blocks=(64, 128)),
}
search = PrefixSearchCV(list(candidates.items()), scoring=recall, tolerance=0.1, cv=3)
search.fit(definitions[train], pairs=lemmas[train], place=train)
search.best_candidate_, search.best_prefix_

# %%
# Names and places are handed to the score by arguments of `fit`, split along with the
# rows. The winner is ahead by very little, though: at 64, 128 and 256 the three ways
# lie within the spread of the splits (mean ± standard deviation).

names = np.array(search.cv_results_["param_candidate"])
for name in candidates:
    rows = names == name
    lengths = search.cv_results_["param_prefix"][rows]
    means = search.cv_results_["mean_test_score"][rows]
    stds = search.cv_results_["std_test_score"][rows]
    cells = zip(lengths, means, stds, strict=True)
    print(f"{name:14}", *(f"{k}: {m:.2f} ± {s:.2f}  " for k, m, s in cells))

# %%
# So, from 64 up, just cut: nothing that learns from the definitions alone beats it by
# more than chance. The names that were held out say so, too. At 8 to 32, shorter than
# the vectors were trained for, axes are ahead of the cut. And whoever has pairs of name
# and definition to learn from need not stop there: such axes lead at every length.

candidates["pairs"] = NestedProjection(objective="pairs")
colors = dict(
    zip(candidates, ["#c8553d", "#8fa3b5", "#7a9e3f", "#1f6f8b"], strict=True)
)

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for name, way in candidates.items():
    pairs = {"pairs": lemmas[train]} if name == "pairs" else {}
    PrefixCurveDisplay.from_estimator(
        way.fit(definitions[train], **pairs),
        definitions,
        queries=lemmas[test],
        relevant=test,
        score="recall_at_k",
        name=name,
        ax=ax,
        curve_kwargs={"color": colors[name]},
    )
ax.set(ylabel="recall at 10")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
plt.show()
