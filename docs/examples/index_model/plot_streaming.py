"""
==========================
Rows in blocks, and merged
==========================

The moments of an index model add up. Rows may come in blocks and be forgotten, or lie
in two places: what comes out is what one fit on all rows would give.
"""

# %%
# Block by block
# --------------
# 64,000 rows arrive 1,000 at a time. After each block the estimator is fitted, and can
# be used. All it keeps is one matrix of moments for each slice, whatever has gone by.

import matplotlib.pyplot as plt
import numpy as np

from skrep.datasets import make_index_model
from skrep.index_model import SlicedInverseRegression, SteinIndex
from skrep.metrics import subspace_distance

X, y, truth = make_index_model(64_000, 20, links="ratio", random_state=0)
blocks = [slice(start, start + 1000) for start in range(0, len(X), 1000)]

# %%
# The response is cut into slices at its quantiles, and quantiles are no moments. So the
# first block settles where the cuts are, unless they are given; then they stay. Cuts
# that are a little off the quantiles of all rows do little harm.

streamed = {"SteinIndex": SteinIndex(2), "SIR": SlicedInverseRegression(2)}
errors = {name: [] for name in streamed}
for block in blocks:
    for name, estimator in streamed.items():
        estimator.partial_fit(X[block], y[block])
        errors[name].append(subspace_distance(estimator.components_, truth))
len(streamed["SteinIndex"].slice_edges_)

# %%
# The error falls with the root of the number of rows, as it should: a hundred times the
# rows, a tenth of the error.

seen = 1000 * np.arange(1, len(blocks) + 1)
fig, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for (name, values), color in zip(errors.items(), ("#1f6f8b", "#8fa3b5"), strict=True):
    ax.loglog(seen, values, color=color, label=name)
root = errors["SteinIndex"][-1] * np.sqrt(seen[-1] / seen)
ax.loglog(seen, root, ":", color="black", lw=1, label="root of the number of rows")
ticks = [0.02, 0.05, 0.1, 0.2]
ax.set_yticks(ticks, ticks)
ax.minorticks_off()
ax.set(xlabel="rows seen", ylabel="sine of the angle to the truth")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# Equal to the fit on all rows
# ----------------------------
# Give both the same cuts, and the difference is rounding.

whole = SteinIndex(2, slice_edges=streamed["SteinIndex"].slice_edges_).fit(X, y)
float(np.abs(whole.components_ - streamed["SteinIndex"].components_).max())

# %%
# Two halves
# ----------
# Two workers fit one half each, with cuts agreed on beforehand, here from a sample of
# the response. :meth:`~skrep.index_model.SteinIndex.merge` takes the rows of the other
# into account without seeing any of them: it adds moments.

edges = np.quantile(y[:5000], np.arange(1, 20) / 20)
first = SteinIndex(2, slice_edges=edges).fit(X[:32_000], y[:32_000])
second = SteinIndex(2, slice_edges=edges).fit(X[32_000:], y[32_000:])
alone = [subspace_distance(half.components_, truth) for half in (first, second)]
merged = first.merge(second)
together = subspace_distance(merged.components_, truth)
[round(value, 4) for value in (*alone, together)]

# %%
# Without cuts that were agreed on, the two cannot be added, and `merge` says so and how
# to mend it.

try:
    SteinIndex(2).fit(X[:500], y[:500]).merge(SteinIndex(2).fit(X[500:], y[500:]))
except ValueError as error:
    print(error)
