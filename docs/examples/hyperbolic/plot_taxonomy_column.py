"""
===========================
A column that forms a tree
===========================

A table has a column of two thousand categories, which are the leaves of a taxonomy, and
a few rows for each. One-hot columns and target means learn every category on its own.
Here the tree becomes two columns, and categories that have no rows are told, too.
"""

# %%
# The table
# ---------
# The response is a sum of effects down the tree, the smaller the deeper, and noise. A
# fifth of the categories has no row to learn from: they came later. Beside the category
# stands a number, which adds to the response.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, TargetEncoder

from skrep.datasets import make_taxonomy_regression
from skrep.hyperbolic import TaxonomyEncoder

rng = np.random.default_rng(0)
X, y, taxonomy, effects = make_taxonomy_regression(as_frame=True, random_state=0)
X["size"] = rng.normal(size=len(X))
y = y + 0.2 * X["size"]

names = X["category"].unique()
late = X["category"].isin(rng.choice(names, len(names) // 5, replace=False))
train = ~late & (rng.random(len(X)) < 0.75)
X.head(3)

# %%
# The taxonomy is a mapping of each node to its parent; a list of pairs or a frame with
# the columns "child" and "parent" would serve as well.

print(len(taxonomy), "edges")
path = [X["category"][0]]
while path[-1] in taxonomy:
    path.append(taxonomy[path[-1]])
" < ".join(path)

# %%
# Three ways to encode the column
# -------------------------------
# :class:`~skrep.hyperbolic.TaxonomyEncoder` goes into a ``ColumnTransformer`` as any
# encoder does. The method "layout" is not trained: every node lies in the middle of the
# sector of its leaves, the farther out the narrower that is.

tree = TaxonomyEncoder(taxonomy, method="layout")
encoders = {
    "one-hot": (OneHotEncoder(handle_unknown="ignore"), Ridge()),
    "target means": (TargetEncoder(target_type="continuous"), Ridge()),
    "taxonomy": (tree, HistGradientBoostingRegressor(random_state=0)),
}
scores = {}
for name, (encoder, model) in encoders.items():
    columns = ColumnTransformer(
        [("category", encoder, ["category"])], remainder="passthrough"
    )
    model = make_pipeline(columns, model).fit(X[train], y[train])
    predicted = model.predict(X)
    scores[name] = [
        r2_score(y[rows], predicted[rows]) for rows in (~late & ~train, late)
    ]
truth = effects + 0.2 * X["size"]
scores["oracle"] = [r2_score(y[rows], truth[rows]) for rows in (~late & ~train, late)]
pd.DataFrame(scores, index=["seen", "late"]).T.round(2)

# %%
# Late categories are told nearly as well as the others, from their kin. And the others
# gain as well: their own few rows are not all that is known of them. The oracle knows
# the effects, and not the noise; what one-hot columns tell of late categories is due to
# the number beside the category.
#
# On the left, the plane in which the tree lies: leaves at the rim, colored by their
# effects. Neighbors are kin, and kin have like effects.

every = pd.DataFrame({"category": list(taxonomy)})
places = TaxonomyEncoder(taxonomy, method="layout").fit_transform(every)
where = dict(zip(every["category"], places, strict=True))
where["root"] = np.zeros(2)
known = X.assign(effect=effects).groupby("category")["effect"].first()
leaves = np.array([where[name] for name in known.index])

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
edges = [(where[child], where[parent]) for child, parent in taxonomy.items()]
left.add_collection(LineCollection(edges, lw=0.3, color="0.75", zorder=0))
points = left.scatter(*leaves.T, c=known, s=5, cmap="coolwarm", vmin=-1.5, vmax=1.5)
left.set(aspect="equal", xticks=[], yticks=[], title="Two columns for 2,000 categories")
left.set_frame_on(False)
fig.colorbar(points, ax=left, label="effect", shrink=0.7)

spots = np.arange(len(scores))
shown = np.array(list(scores.values()))
for shift, part, label, color in (
    (-0.2, 0, "seen categories", "#1f6f8b"),
    (0.2, 1, "late categories", "#c8553d"),
):
    right.bar(spots + shift, shown[:, part], 0.38, color=color, label=label)
right.axhline(0, color="black", lw=0.8)
right.set_xticks(spots, list(scores))
right.set(title="Test rows explained, $R^2$", ylim=(-0.02, 0.8))
right.legend(frameon=False, loc="upper left", ncols=2)
right.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# A category outside of the taxonomy
# ----------------------------------
# A category may come that the taxonomy does not know, and often one knows at least
# where it belongs. A mapping, or a function, names the parent, under which it is placed
# as a further leaf; a missing category is looked up as None.

encoder = TaxonomyEncoder(
    taxonomy,
    method="layout",
    handle_unknown={"brand new": taxonomy["c0000"], None: "root"},
)
encoder.set_output(transform="pandas").fit(X[["category"]])
encoder.transform(pd.DataFrame({"category": ["c0000", "brand new", None]}))
