"""
=======================================
Few pairs: what unpaired rows are worth
=======================================

Two encoders have embedded texts, and only a few of the texts are known to be the same.
How many counterparts of new texts are found from these pairs alone, and how many with
the help of rows whose partners nobody knows?
"""

# %%
# Two encoders
# ------------
# Definitions of mammals under E5 and MiniLM. A quarter is new; of the others 16 to 64
# are pairs. Of the remaining rows either all are there under both encoders, in unknown
# order, or half of them under the one and half under the other, so that no row has its
# partner on the other side.

import matplotlib.pyplot as plt
import numpy as np

from skrep.datasets import load_mammals
from skrep.metrics import mean_reciprocal_rank
from skrep.relative import LatentAlignment, LearnedAnchors, RelativeRepresentation

e5, minilm = (load_mammals(encoder=name).data for name in ("e5", "minilm"))
order = np.random.default_rng(0).permutation(len(e5))
known, new = order[:900], order[900:]
counts = [16, 32, 64]

# %%
# The ways
# --------
# A map in closed form, anchors that are rows, and learned anchors. Scored is the mean
# reciprocal rank of a text's counterpart among the new ones of the other encoder.


def score(ours, theirs):
    return mean_reciprocal_rank(ours, theirs)


scores = {}
for n_pairs in counts:
    pairs, rest = known[:n_pairs], known[n_pairs:]
    shuffled = np.random.default_rng(1).permutation(rest)

    alignment = LatentAlignment().fit(e5[pairs], minilm[pairs])
    center = alignment.y_mean_
    found = score(alignment.transform(e5[new]) - center, minilm[new] - center)
    scores.setdefault("LatentAlignment", []).append(found)

    relative = RelativeRepresentation(anchors=np.arange(n_pairs)).fit(e5[pairs])
    twin = relative.counterpart(minilm[pairs])
    found = score(relative.transform(e5[new]), twin.transform(minilm[new]))
    scores.setdefault("RelativeRepresentation", []).append(found)

    half = len(rest) // 2
    for name, size, epochs, more in [
        ("pairs alone", n_pairs, 60, {}),
        (
            "other rows",
            64,
            20,
            {"unpaired_X": e5[rest[:half]], "unpaired_y": minilm[rest[half:]]},
        ),
        (
            "common rows",
            64,
            10,
            {"unpaired_X": e5[rest], "unpaired_y": minilm[shuffled]},
        ),
    ]:
        model = LearnedAnchors(size, max_epochs=epochs, random_state=0)
        model.fit(e5[pairs], minilm[pairs], **more)
        other = model.y_transformer_
        found = score(model.transform(e5[new]), other.transform(minilm[new]))
        scores.setdefault(f"LearnedAnchors, {name}", []).append(found)

# %%
# What counts is what is known
# ----------------------------
# From the same pairs, learned anchors gain little over anchors that are rows, which
# need no training. Rows without known partners make the difference where their partners
# are among them. Where none has a partner, matches are no more than neighbors, and here
# they do harm.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
marks = {"LatentAlignment": "o", "RelativeRepresentation": "s"}
for name, values in scores.items():
    ax.plot(counts, values, marker=marks.get(name, "D"), label=name)
ax.set_xscale("log", base=2)
ax.set_xticks(counts, counts)
ax.set(
    xlabel="known pairs",
    ylabel="mean reciprocal rank of the counterpart",
    title="Finding a new text's counterpart under the other encoder",
    ylim=(0, 1),
)
ax.grid(alpha=0.3)
ax.legend()
plt.show()
