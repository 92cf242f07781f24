"""
=====================
Dimensions with names
=====================

A column of an embedding means nothing by itself. A relative coordinate does: it says
how much a row resembles one anchor, and the anchor has a name. With few anchors, chosen
far from each other, this is a short vector that can be read, the recipe of LDIR.
"""

# %%
# Vectors with names
# ------------------
# A DataFrame whose index names the rows: definitions of mammals, embedded by MiniLM.

import matplotlib.pyplot as plt

from skrep.datasets import load_mammals
from skrep.relative import RelativeRepresentation

frame = load_mammals(as_frame=True).data
frame.index = frame.index.str.split(".").str[0].str.replace("_", " ")
frame = frame[~frame.index.duplicated()]
frame.iloc[:3, :4].round(2)

# %%
# Readable coordinates
# --------------------
# Farthest-point selection spreads the anchors over the space. Without whitening and
# scaling a coordinate stays the plain cosine, around the mean of the space.

readable = RelativeRepresentation(
    n_anchors=200, selection="farthest", whiten=None, scale=False
).set_output(transform="pandas")
coordinates = readable.fit_transform(frame)

# %%
# The columns bear the names of the anchors:

shown = [
    "wolf",
    "lion",
    "zebra",
    "camel",
    "seal",
    "porpoise",
    "fruit bat",
    "gorilla",
]
coordinates.loc[shown].iloc[:, :5].round(2)

# %%
# What is most like a wolf?

coordinates.loc["wolf"].nlargest(6).round(2)

# %%
# A vector one can read
# ---------------------
# With ``top_k`` only the largest coordinates of a row are kept, in a sparse matrix. The
# names of what is left are an explanation: the binary code of LDIR.

sparse = RelativeRepresentation(
    n_anchors=200, selection="farthest", whiten=None, scale=False, top_k=4
).fit(frame)
codes = sparse.transform(frame.loc[shown])
names = sparse.get_feature_names_out()
code_of = {name: names[codes[[i]].indices] for i, name in enumerate(shown)}
for name, code in code_of.items():
    print(f"{name:10} {', '.join(code)}")

# %%
# Some of it is about the animal, some about the wording of its definition: a coordinate
# shows what the encoder sees, and no more.
#
# The same as a picture: the union of these anchors, and how much each animal resembles
# them. Squares mark the code.

union = list(dict.fromkeys(anchor for code in code_of.values() for anchor in code))
picture = coordinates.loc[shown, union]

fig, ax = plt.subplots(figsize=(9, 4.2), layout="constrained")
image = ax.imshow(picture, cmap="RdBu_r", vmin=-0.8, vmax=0.8, aspect="auto")
for i, code in enumerate(code_of.values()):
    kept = [union.index(anchor) for anchor in code]
    ax.scatter(kept, [i] * len(kept), marker="s", s=70, fc="none", ec="black")
ax.set_xticks(range(len(union)), labels=union, rotation=55, ha="right")
ax.set_yticks(range(len(shown)), labels=shown)
fig.colorbar(image, label="cosine to the anchor", extend="max")
plt.show()
