"""Which part of a search gets which of the metadata of fit."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _check_method_params

__all__ = ["Metadata", "make_router", "route_fit", "route_score", "take"]

WHO = "PrefixSearchCV"


@dataclass(frozen=True)
class Metadata:
    """What `fit` passes on.

    Parameters
    ----------
    transformers : list of dict
        For the fit of each candidate.
    head : dict
        For the fit of the head.
    score : dict
        For the scorer.
    split : dict
        For the splitter.
    """

    transformers: list[dict[str, Any]]
    head: dict[str, Any]
    score: dict[str, Any]
    split: dict[str, Any]


def make_router(
    owner: Any, candidates: list[tuple[str, Any]], head: Any, scorer: Any, cv: Any
) -> MetadataRouter:
    """Describe the parts of a search and who calls what.

    Parameters
    ----------
    owner : estimator
        The search.
    candidates : list of (str, transformer)
        The candidates.
    head : classifier, regressor or None
        The head.
    scorer : callable
        The scorer.
    cv : object
        The splitter.

    Returns
    -------
    MetadataRouter
        The router.
    """
    fit = MethodMapping().add(caller="fit", callee="fit")
    score = MethodMapping().add(caller="fit", callee="score")
    score.add(caller="score", callee="score")
    split = MethodMapping().add(caller="fit", callee="split")
    router = MetadataRouter(owner=owner)
    for name, transformer in candidates:
        router.add(**{_key(name): transformer}, method_mapping=fit)
    if head is not None:
        router.add(head=head, method_mapping=fit)
    router.add(scorer=scorer, method_mapping=score)
    router.add(splitter=cv, method_mapping=split)
    return router


def route_fit(
    owner: Any,
    params: dict[str, Any],
    candidates: list[tuple[str, Any]],
    head: Any,
    scorer: Callable[..., Any],
) -> Metadata:
    """Share out the metadata that `fit` was given.

    Parameters
    ----------
    owner : estimator
        The search.
    params : dict
        The metadata.
    candidates : list of (str, transformer)
        The candidates.
    head : classifier, regressor or None
        The head.
    scorer : callable
        The scorer.

    Returns
    -------
    Metadata
        By request where metadata routing is enabled. Elsewhere `groups` go to the
        splitter, `sample_weight` to every part that has a parameter of this name, and
        all else to the transformers and the scorer that take it.

    Raises
    ------
    TypeError
        If no part takes what was given.
    """
    if _routing_enabled():
        routed = process_routing(owner, "fit", **params)
        return Metadata(
            [routed[_key(name)]["fit"] for name, _ in candidates],
            routed["head"]["fit"] if head is not None else {},
            routed["scorer"]["score"],
            routed["splitter"]["split"],
        )
    rest = {name: value for name, value in params.items() if name != "groups"}
    groups = params.get("groups")
    weight = {k: v for k, v in rest.items() if k == "sample_weight"}
    shared = Metadata(
        [_accepted(rest, t.fit) for _, t in candidates],
        _accepted(weight, head.fit) if head is not None else {},
        _asked(rest, scorer),
        {} if groups is None else {"groups": groups},
    )
    taken: set[str] = set().union(*shared.transformers, shared.head, shared.score)
    for name in rest:
        if name not in taken:
            raise TypeError(
                f"{WHO}: fit got '{name}', which no transformer, head or scorer takes. "
                "Leave it out, or name the step of a Pipeline that it is for, as in "
                f"fit(X, y, step__{name}=...)."
            )
    return shared


def route_score(
    owner: Any, params: dict[str, Any], scorer: Callable[..., Any]
) -> dict[str, Any]:
    """Return the metadata of `score` that are for the scorer.

    Parameters
    ----------
    owner : estimator
        The search.
    params : dict
        The metadata.
    scorer : callable
        The scorer.

    Returns
    -------
    dict
        Keyword arguments of the scorer.

    Raises
    ------
    TypeError
        If the scorer does not take what was given.
    """
    if _routing_enabled():
        score = MethodMapping().add(caller="score", callee="score")
        router = MetadataRouter(owner=owner).add(scorer=scorer, method_mapping=score)
        routed: dict[str, Any] = process_routing(router, "score", **params)["scorer"]
        return routed["score"]
    asked = _asked(params, scorer)
    for name in params:
        if name not in asked:
            raise TypeError(
                f"{WHO}: score got '{name}', which the scorer does not take. Leave it "
                "out."
            )
    return asked


def take(X: Any, metadata: dict[str, Any], rows: Any) -> dict[str, Any]:
    """Select rows of the metadata that have one entry per row of X.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    metadata : dict
        Keyword arguments.
    rows : ndarray of int
        Positions.

    Returns
    -------
    dict
        The same keys; what has another length is passed whole.
    """
    selected: dict[str, Any] = _check_method_params(X, metadata, rows)
    return selected


def _key(name: str) -> str:
    return name if name == "estimator" else f"estimator__{name}"


def _accepted(params: dict[str, Any], function: Callable[..., Any]) -> dict[str, Any]:
    known = signature(function).parameters
    anything = any(p.kind is Parameter.VAR_KEYWORD for p in known.values())
    return {
        name: value
        for name, value in params.items()
        if name in known or (anything and name != "sample_weight")
    }


def _asked(params: dict[str, Any], scorer: Callable[..., Any]) -> dict[str, Any]:
    known = set(signature(scorer).parameters)
    weighs = getattr(scorer, "_accept_sample_weight", None)
    if weighs is not None and not weighs():
        known.discard("sample_weight")
    elif weighs is not None:
        known.add("sample_weight")
    return {name: value for name, value in params.items() if name in known}
