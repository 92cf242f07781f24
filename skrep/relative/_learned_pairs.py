"""From two sides and their unpaired rows to what anchors are trained on."""

from typing import Any, NamedTuple

import numpy as np

from skrep.exceptions import FewerColumnsWarning
from skrep.geometry import row_norms
from skrep.relative import _anchors
from skrep.relative._learned_matching import grow_matches
from skrep.relative._token_sets import RowSets, joined
from skrep.typing import FloatArray, IntArray
from skrep.utils import warn

__all__ = ["Center", "PairSample", "pick_anchors", "prepare_pairs"]

MAX_UNPAIRED = 4096


class Center(NamedTuple):
    """Where the rows of a space lie.

    Parameters
    ----------
    mean : ndarray of shape (n_features,)
        The mean of the rows.
    length : float
        The mean of their distances from it.
    """

    mean: FloatArray
    length: float


class PairSample(NamedTuple):
    """Pairs to train on.

    Parameters
    ----------
    x, y : RowSets
        Unit tokens of both sides, row by row.
    weights : ndarray of shape (n_pairs,)
        Positive weights.
    codes : ndarray of shape (n_pairs, 2)
        Which row of either side a pair holds: equal rows have equal codes.
    n_matched : int
        How many of the pairs, the last ones, were found among the unpaired rows.
    x_center, y_center : Center
        Where the two sides lie.
    """

    x: RowSets
    y: RowSets
    weights: FloatArray
    codes: IntArray
    n_matched: int
    x_center: Center
    y_center: Center

    def at(self, pairs: IntArray) -> "PairSample":
        """Give some of the pairs.

        Parameters
        ----------
        pairs : ndarray of int
            Their positions.

        Returns
        -------
        PairSample
            The pairs.
        """
        return self._replace(
            x=self.x.at(pairs),
            y=self.y.at(pairs),
            weights=self.weights[pairs],
            codes=self.codes[pairs],
        )


def prepare_pairs(
    who: str,
    sides: tuple[RowSets, RowSets],
    weights: FloatArray,
    unpaired: tuple[RowSets | None, RowSets | None],
    pooling: str,
    rng: np.random.RandomState,
) -> PairSample:
    """Merge equal pairs, center both sides, and find pairs among unpaired rows.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    sides : tuple of RowSets
        Rows and their partners.
    weights : ndarray of shape (n_pairs,)
        Non-negative weights.
    unpaired : tuple of (RowSets or None)
        Rows of either side whose partners are unknown.
    pooling : {"max", "mean"}
        What to take over the tokens of a row.
    rng : RandomState
        Draws unpaired rows where there are more than 4,096.

    Returns
    -------
    PairSample
        The pairs, in an order that their content gives.

    Raises
    ------
    ValueError
        If fewer than two pairs differ, or a side's rows are all equal.
    """
    kept, totals, codes = _distinct(*sides, weights)
    if len(kept) < 2:
        raise ValueError(
            f"{who}: 'X' and 'y' have {len(kept)} distinct pair (n_samples={len(kept)} "
            "of positive weight), but a pair can only be told from others. Pass 2 "
            "pairs at least that differ."
        )
    rows = [side.at(kept) for side in sides]
    centers = [
        _center(*part) for part in zip(rows, unpaired, [totals, totals], strict=True)
    ]
    units = [
        side.directions(center.mean) for side, center in zip(rows, centers, strict=True)
    ]
    for name, side in zip("Xy", units, strict=True):
        if not side.tokens.any():
            raise ValueError(
                f"{who}: all rows of '{name}' are equal, so that none can be told from "
                "another. Pass rows that differ."
            )
    n_matched = 0
    if unpaired[0] is not None and unpaired[1] is not None:
        drawn = [
            _draw(side, rng).directions(center.mean)
            for side, center in zip(unpaired, centers, strict=True)
            if side is not None
        ]
        found = grow_matches((units[0], units[1]), (drawn[0], drawn[1]), pooling)
        n_matched = len(found[0])
        units = [
            joined(side, more.at(at))
            for side, more, at in zip(units, drawn, found, strict=True)
        ]
        totals = np.concatenate([totals, np.ones(n_matched)])
        new = codes.max() + 1 + np.arange(n_matched)
        codes = np.concatenate([codes, np.column_stack([new, new])])
    return PairSample(units[0], units[1], totals, codes, n_matched, *centers)


def pick_anchors(
    who: str, sample: PairSample, n_anchors: int, rng: np.random.RandomState
) -> tuple[FloatArray, FloatArray]:
    """Take the pairs nearest to the centroids of clusters of pairs.

    Parameters
    ----------
    who : str
        The estimator that is named in the warning.
    sample : PairSample
        Pairs.
    n_anchors : int
        Number of anchors; where there are fewer pairs, all of them serve.
    rng : RandomState
        Source of randomness.

    Returns
    -------
    x, y : ndarray of shape (n_anchors, n_features)
        Means of the unit tokens of the chosen pairs.

    Warns
    -----
    FewerColumnsWarning
        If there are fewer pairs than anchors.
    """
    x, y = sample.x.means(), sample.y.means()
    able = np.flatnonzero((row_norms(x) > 1e-6) & (row_norms(y) > 1e-6))
    if not len(able):
        raise ValueError(
            f"{who}: no pair has both rows away from the mean of its side, so that "
            "none can serve as an anchor. Pass more pairs."
        )
    if len(able) < n_anchors:
        warn(
            f"{who}: 'n_anchors'={n_anchors} exceeds the number of distinct pairs that "
            f"can serve, {len(able)}. All of them are used; set "
            f"n_anchors={len(able)} or fewer.",
            FewerColumnsWarning,
        )
    n_anchors = min(n_anchors, len(able))
    both, weights = np.hstack([x[able], y[able]]), sample.weights[able]
    used, weights = _anchors.thin(weights, n_anchors, rng)
    rows = _anchors.prepare(both[used], weights)
    picks = able[used[_anchors.kmeans(rows, weights, n_anchors, rng)]]
    return x[picks], y[picks]


def _distinct(
    x: RowSets, y: RowSets, weights: FloatArray
) -> tuple[IntArray, FloatArray, IntArray]:
    """First positions of the distinct pairs by content, their weights and codes."""
    contents = [_contents(side) for side in (y, x)]
    totals: dict[tuple[bytes, ...], float] = {}
    first: dict[tuple[bytes, ...], int] = {}
    for i, key in enumerate(zip(*contents, strict=True)):
        if weights[i] > 0:
            first.setdefault(key, i)
            totals[key] = totals.get(key, 0.0) + float(weights[i])
    keys = sorted(first)
    codes = np.zeros((len(keys), 2), dtype=np.intp)
    for column in range(2):
        seen: dict[bytes, int] = {}
        codes[:, column] = [seen.setdefault(key[column], len(seen)) for key in keys]
    kept = np.array([first[key] for key in keys], dtype=np.intp)
    return kept, np.array([totals[key] for key in keys]), codes


def _contents(side: RowSets) -> list[bytes]:
    # Adding zero turns -0.0 into 0.0, which is the same number.
    tokens = np.ascontiguousarray(side.tokens.astype(np.float64) + 0.0)
    ends = np.cumsum(side.counts)
    return [
        tokens[start:end].tobytes()
        for start, end in zip(side.starts, ends, strict=True)
    ]


def _center(rows: RowSets, more: RowSets | None, weights: FloatArray) -> Center:
    if more is not None:
        rows = joined(rows, more)
        weights = np.concatenate([weights, np.ones(len(more))])
    means, share = rows.means(), weights / weights.sum()
    mean = share @ means
    length = float(share @ row_norms(means - mean))
    return Center(mean, length or 1.0)


def _draw(rows: RowSets, rng: Any) -> RowSets:
    if len(rows) <= MAX_UNPAIRED:
        return rows
    return rows.at(np.sort(rng.permutation(len(rows))[:MAX_UNPAIRED]))
