"""From coded triples to trained vectors of entities and relations."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from skrep._neural import (
    check_network_params,
    draw_seed,
    hold_out_rows,
    run_training,
    training_plan,
    training_rows,
)
from skrep.hyperbolic._knowledge_models import (
    HYPERBOLIC,
    MODELS,
    cubes,
    queries,
    scores_of,
)
from skrep.typing import FloatArray, IntArray
from skrep.utils.validation import is_whole

if TYPE_CHECKING:
    from skrep.nn._batches import Rows
    from skrep.nn._net import Training

__all__ = ["both_ways", "check_even", "first_tables", "train_triples"]

FEW: Final = 1000
"""Up to as many entities a step sets the tails against all of them."""

N_RIVALS: Final = 250
"""Where there are more, against as many."""

START: Final = 0.01
"""Standard deviation of the first vectors."""


def check_even(who: str, n_components: Any) -> None:
    """Refuse a number of coordinates that makes no pairs.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    n_components : object
        The number asked for.

    Raises
    ------
    ValueError
        If it is no even integer from 2 on.
    """
    if not is_whole(n_components) or n_components < 2 or n_components % 2:
        raise ValueError(
            f"{who}: 'n_components' is {n_components!r}. It must be an even integer of "
            "at least 2, for coordinates come in pairs. Pass n_components=32, say."
        )


def train_triples(
    estimator: Any, triples: IntArray, n_entities: int, n_relations: int, told: Any
) -> dict[str, Any]:
    """Train the vectors of a `KnowledgeGraphEmbedding`.

    Parameters
    ----------
    estimator : KnowledgeGraphEmbedding
        Its parameters are read.
    triples : ndarray of shape (n_triples, 3)
        Codes of head, relation and tail, each triple once.
    n_entities, n_relations : int
        Numbers of codes.
    told : mapping
        What callbacks of scikit-learn are told.

    Returns
    -------
    dict
        Fitted attributes by name.

    Raises
    ------
    ValueError
        If a parameter does not suit, or training diverges.
    """
    from skrep.nn._triples import triple_tables

    check_network_params(estimator)
    seed = draw_seed(estimator)
    who, fraction = type(estimator).__name__, estimator.validation_fraction
    train, held = triples, None
    if fraction is not None:
        codes = np.zeros(len(triples), dtype=np.intp)
        kept, left = hold_out_rows(who, codes, fraction, seed)
        train, held = triples[kept], triples[left]

    def state(network: Any) -> dict[str, Any]:
        tables = triple_tables(network)
        curved = estimator.model in HYPERBOLIC
        return {
            "entity_embedding_": tables["entity"],
            "entity_bias_": tables["bias"],
            "relation_embedding_": tables["relation"],
            "curvatures_": tables["curvature"] * np.float32(curved),
        }

    return run_training(
        estimator,
        seed,
        lambda draws: _start(estimator, train, held, (n_entities, n_relations), draws),
        state,
        told,
    )


def both_ways(triples: IntArray, n_relations: int) -> IntArray:
    """Add the reciprocal of each triple, tail and head exchanged.

    Parameters
    ----------
    triples : ndarray of shape (n_triples, 3)
        Codes of head, relation and tail.
    n_relations : int
        Number of relations; the reciprocal of relation r has the code n_relations + r.

    Returns
    -------
    ndarray of shape (2 * n_triples, 3)
        The triples, then their reciprocals.
    """
    heads, relations, tails = triples.T
    back = np.column_stack([tails, relations + n_relations, heads])
    return np.concatenate([triples, back])


def first_tables(
    model: str,
    width: int,
    n_entities: int,
    n_relations: int,
    draws: np.random.Generator,
) -> dict[str, FloatArray]:
    """Draw the first vectors.

    Parameters
    ----------
    model : str
        A key of `MODELS`.
    width : int
        Coordinates of an entity.
    n_entities, n_relations : int
        Numbers of rows; every relation has a reciprocal one.
    draws : Generator
        Their source.

    Returns
    -------
    dict of str to ndarray, float32
        The tables of a `TripleNet`.
    """
    parts = []
    for name, share in MODELS[model]:
        size = 2 * n_relations, int(share * width)
        if name.endswith("angle"):
            parts.append(draws.uniform(-np.pi, np.pi, size))
        else:
            parts.append(draws.normal(0, START, size))
    tables = {
        "entity": draws.normal(0, START, (n_entities, width)),
        "relation": np.hstack(parts),
        "bias": np.zeros(n_entities),
        # The softplus makes 1 of it.
        "curvature": np.full(2 * n_relations, np.log(np.e - 1)),
    }
    return {name: table.astype(np.float32) for name, table in tables.items()}


def _start(
    estimator: Any,
    train: IntArray,
    held: IntArray | None,
    sizes: tuple[int, int],
    draws: np.random.Generator,
) -> "Training":
    import torch

    from skrep.nn._net import Training, falling_rate
    from skrep.nn._triples import TripleLoss, TripleNet

    model, width = estimator.model, estimator.n_components
    tables: Mapping[str, FloatArray] = first_tables(model, width, *sizes, draws)
    size = estimator.batch_size
    if size == "auto":
        size = min(1000, max(64, len(train) // 16))
    plan = training_plan(estimator, size)
    return Training(
        type(estimator).__name__,
        lambda: TripleNet(
            tables,
            query=partial(queries, torch, model),
            scores=partial(scores_of, torch, model),
            cubes=partial(cubes, model),
            n_rivals=sizes[0] if sizes[0] <= FEW else N_RIVALS,
        ),
        TripleLoss(estimator.regularization),
        plan._replace(
            callbacks=[*plan.callbacks, falling_rate(plan.max_epochs, last=0.05)]
        ),
        n_outputs=2,
        rows=_rows(train, sizes[1], estimator.device),
        held_out=None if held is None else _rows(held, sizes[1], estimator.device),
        seed=draws,
        dtype=torch.float32,
    )


def _rows(triples: IntArray, n_relations: int, device: str) -> "Rows":
    import torch

    both = both_ways(triples, n_relations).astype(np.int64)
    codes = torch.from_numpy(both).to(device)
    return training_rows(
        lambda at: codes[torch.from_numpy(at).to(device)],
        both[:, 2],
        np.ones(len(both)),
        device,
    )
