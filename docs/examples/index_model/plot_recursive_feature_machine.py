"""
===========================
A recursive feature machine
===========================

A kernel regression takes all directions of its rows for equally important. A recursive
feature machine asks the fitted regression which ones are, by the average outer product
of its gradients, and fits again with what it was told as its metric. Scikit-learn's
breast cancer set has 30 columns; one direction of them is enough.
"""

# %%
# The machine
# -----------
# :class:`~skrep.index_model.GradientOuterProduct` is the machine itself with all rows
# as centers, standardized columns, and a first metric that knows nothing. Behind it in
# a pipeline stands an ordinary kernel ridge regression. Its competitor is the same
# regression on all standardized columns. Both predict 1 for a benign and -1 for a
# malignant tumor, and tune ridge and kernel width within the training rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrep.index_model import GradientOuterProduct

cancer = load_breast_cancer()
X, y = cancer.data, 2.0 * cancer.target - 1

head = GridSearchCV(
    KernelRidge(kernel="rbf"),
    {"alpha": [0.1, 1], "gamma": [0.003, 0.01, 0.03, 0.1, 1, 3]},
    cv=3,
)


def machine(n_components):
    return GradientOuterProduct(
        n_components, alpha=0.1, centers=None, init="identity", n_iter=5, whiten=False
    )


# %%
# Held-out scores
# ---------------
# The share of the variance of y that is explained in rows not seen, over five folds.

folds = KFold(5, shuffle=True, random_state=0)
alone = cross_val_score(make_pipeline(StandardScaler(), head), X, y, cv=folds)
lengths = [1, 2, 3, 5]
scores = [
    cross_val_score(make_pipeline(machine(k), head), X, y, cv=folds) for k in lengths
]
{"alone": alone.mean().round(3), "one direction": scores[0].mean().round(3)}

# %%
# What it has learned
# -------------------
# The outer product, fitted to all rows and shown for standardized columns, has one
# eigenvalue that matters. It is a pattern of stripes, as a matrix of rank one is: some
# columns of each group take part, and most of all those of the worst cells.

fitted = machine(2).fit(X, y)
scale = X.std(axis=0)
G = fitted.gradient_outer_product_ * scale * scale[:, None]
(fitted.eigenvalues_[:4] / fitted.eigenvalues_[0]).round(3)

# %%

fig, axes = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
largest = np.abs(G).max()
image = axes[0].imshow(G, cmap="RdBu_r", vmin=-largest, vmax=largest)
axes[0].set_title("Gradient outer product")
groups = ["mean", "error", "worst"]
axes[0].set_xticks([4.5, 14.5, 24.5], groups)
axes[0].set_yticks([4.5, 14.5, 24.5], groups)
axes[0].tick_params(length=0)
for edge in (9.5, 19.5):
    axes[0].axhline(edge, color="0.6", lw=0.6)
    axes[0].axvline(edge, color="0.6", lw=0.6)
fig.colorbar(image, ax=axes[0], shrink=0.75)

Z = fitted.transform(X)
for name, value, color in (("malignant", -1, "#c8553d"), ("benign", 1, "#1f6f8b")):
    axes[1].scatter(*Z[y == value].T, s=9, alpha=0.6, color=color, label=name)
axes[1].set(title="Rows along two directions", xlabel="first", ylabel="second")
axes[1].legend(frameon=False)

axes[2].axhline(alone.mean(), color="#c8553d", label="all 30 columns")
means = [score.mean() for score in scores]
axes[2].plot(lengths, means, "o-", color="#1f6f8b", label="directions")
axes[2].set(title="Held-out $R^2$", xlabel="directions", xticks=lengths)
axes[2].legend(frameon=False, loc="lower left")
for ax in axes[1:]:
    ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The columns that weigh most in the first direction, in units of their deviations:

weights = fitted.components_[0] * scale
order = np.argsort(-np.abs(weights))[:5]
{str(cancer.feature_names[j]): float(weights[j].round(2)) for j in order}

# %%
# Directions come with unit variance, so `n_components` decides how many reach the
# regression, and here each further one costs: what it adds is mostly noise. On a set as
# noisy as :func:`~sklearn.datasets.load_diabetes` the machine gains nothing over kernel
# ridge regression alone.
