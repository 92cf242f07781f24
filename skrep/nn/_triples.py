"""Vectors of entities and relations as a network whose rows are triples."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch.nn.functional import embedding, softplus

from skrep.typing import FloatArray

__all__ = ["TripleLoss", "TripleNet", "triple_tables"]


class TripleNet(torch.nn.Module):
    """Give the cross-entropy of each triple's tail, and the cubes of its vectors.

    Where there are more entities than rivals, a step sees but a sample of them, drawn
    anew and shared by its triples, and weighs it as if it were all.

    Parameters
    ----------
    tables : mapping of str to ndarray
        First values: "entity" and "relation", matrices; "bias", a number per entity;
        "curvature", what the softplus makes c of, a number per relation.
    query : callable
        Takes vectors of heads and relations and c; gives what tails are compared with.
    scores : callable
        Takes what `query` gives, its products with tails, squared norms and biases of
        the tails, and c; gives scores.
    cubes : callable
        Takes vectors of heads, relations and tails; gives a number per triple.
    n_rivals : int
        Number of entities in a sample.
    """

    entity: torch.nn.Parameter
    relation: torch.nn.Parameter
    bias: torch.nn.Parameter
    curvature: torch.nn.Parameter

    def __init__(
        self,
        tables: Mapping[str, FloatArray],
        *,
        query: Callable[..., Any],
        scores: Callable[..., Any],
        cubes: Callable[..., Any],
        n_rivals: int,
    ) -> None:
        super().__init__()
        for name, table in tables.items():
            setattr(self, name, torch.nn.Parameter(torch.from_numpy(table.copy())))
        self.query, self.scores, self.cubes = query, scores, cubes
        self.n_rivals = n_rivals

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Look at triples.

        Parameters
        ----------
        rows : Tensor of shape (n_triples, 3)
            Codes of head, relation and tail.

        Returns
        -------
        Tensor of shape (n_triples, 2)
            Cross-entropy and cubes.
        """
        heads, relations, tails = rows.unbind(1)
        head, tail = embedding(heads, self.entity), embedding(tails, self.entity)
        relation = embedding(relations, self.relation)
        curvature = softplus(self.curvature)[relations, None]
        query = self.query(head, relation, curvature)
        n_entities = len(self.entity)
        if not self.training or n_entities <= self.n_rivals:
            scores = self._scores(query, self.entity, self.bias, curvature)
            own = scores.gather(1, tails[:, None])[:, 0]
            loss = scores.logsumexp(1) - own
        else:
            rivals = torch.randint(n_entities, (self.n_rivals,), device=rows.device)
            scores = self._scores(
                query, self.entity[rivals], self.bias[rivals], curvature
            )
            products = (query.vector * tail).sum(1, keepdim=True)
            squares = (tail * tail).sum(1, keepdim=True)
            bias = self.bias[tails][:, None]
            own = self.scores(query, products, squares, bias, curvature)
            stands_for = np.log((n_entities - 1) / self.n_rivals)
            scores = (scores + stands_for).masked_fill(
                rivals == tails[:, None], -torch.inf
            )
            loss = torch.cat((own, scores), 1).logsumexp(1) - own[:, 0]
        return torch.stack((loss, self.cubes(head, relation, tail)), 1)

    def _scores(
        self, query: Any, entity: torch.Tensor, bias: torch.Tensor, curvature: Any
    ) -> Any:
        squares = (entity * entity).sum(1)
        return self.scores(query, query.vector @ entity.T, squares, bias, curvature)


class TripleLoss(torch.nn.Module):
    """Take the mean cross-entropy, and add the regularization.

    Parameters
    ----------
    regularization : float
        Factor of the cubes.
    """

    def __init__(self, regularization: float) -> None:
        super().__init__()
        self.regularization = regularization

    def forward(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Reduce what `TripleNet` gives.

        Parameters
        ----------
        outputs : Tensor of shape (n_triples, 2)
            Cross-entropy and cubes.
        y : Tensor
            Not used.

        Returns
        -------
        Tensor
            One number.
        """
        loss, cubes = outputs.mean(0)
        return loss + self.regularization * cubes


def triple_tables(network: torch.nn.Module) -> dict[str, FloatArray]:
    """Take what a `TripleNet` has learned out as arrays.

    Parameters
    ----------
    network : Module
        The network.

    Returns
    -------
    dict of str to ndarray
        The tables by name, with c itself as "curvature".
    """
    found: dict[str, torch.Tensor] = dict(network.named_parameters())
    found["curvature"] = softplus(found["curvature"])
    return {name: part.detach().cpu().numpy().copy() for name, part in found.items()}
