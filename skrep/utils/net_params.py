"""Nested parameters of estimators that own a network: module__x, optimizer__x."""

import inspect
from collections.abc import Mapping
from typing import Any, Final, Self

__all__ = ["NetParams", "module_keys"]

OPTIMIZER_KEYS: Final = ("amsgrad", "betas", "eps", "foreach", "fused")
_DICTS: Final = {"module": "module_params", "optimizer": "optimizer_params"}


class NetParams:
    """Mixin that reads and writes entries of two dicts as nested parameters.

    ``module__dropout`` is the entry "dropout" of `module_params`, and so with
    ``optimizer__betas`` and `optimizer_params`. Writing makes a fresh dict, so that a
    dict which clones share is never changed. An estimator that has but one of the two
    has the nested parameters of that one.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters, the entries of the two dicts among them.

        Parameters
        ----------
        deep : bool, default=True
            Whether to list ``module__*`` and ``optimizer__*``.

        Returns
        -------
        dict
            Parameter names mapped to their values.
        """
        found: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]
        if deep:
            for prefix, name in _DICTS.items():
                held = found.get(name)
                if isinstance(held, Mapping):
                    found |= {f"{prefix}__{key}": held[key] for key in held}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters.

        Parameters
        ----------
        **params : dict
            Parameters by name; ``module__*`` and ``optimizer__*`` go into a fresh copy
            of `module_params` and `optimizer_params`.

        Returns
        -------
        estimator
            The estimator itself.

        Raises
        ------
        ValueError
            If there is no parameter of that name; the message lists those there are.
        """
        nested: dict[str, dict[str, Any]] = {}
        plain = {}
        for key, value in params.items():
            prefix, is_nested, entry = key.partition("__")
            if is_nested and hasattr(self, _DICTS.get(prefix, "")):
                nested.setdefault(prefix, {})[entry] = value
            else:
                plain[key] = value
        module = plain.get("module", getattr(self, "module", "mlp"))
        for prefix, entries in nested.items():
            check_keys(type(self).__name__, module, prefix, entries)
        super().set_params(**plain)  # type: ignore[misc]
        for prefix, entries in nested.items():
            held = getattr(self, _DICTS[prefix])
            before = held if isinstance(held, Mapping) else {}
            setattr(self, _DICTS[prefix], {**before, **entries})
        return self


def check_keys(who: str, module: Any, prefix: str, entries: Mapping[str, Any]) -> None:
    """Refuse entries that neither the network nor the optimizer knows.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    module : "mlp" or type
        Its network.
    prefix : {"module", "optimizer"}
        Whose entries they are.
    entries : mapping
        The entries.

    Raises
    ------
    ValueError
        If one is unknown; the message lists the known ones.
    """
    known = OPTIMIZER_KEYS if prefix == "optimizer" else module_keys(module)
    unknown = [] if known is None else [key for key in entries if key not in known]
    if unknown:
        valid = ", ".join(f"'{prefix}__{key}'" for key in known or ()) or "none"
        own = " The rate is 'lr', the decay 'weight_decay'." * (prefix == "optimizer")
        raise ValueError(
            f"{who}: '{prefix}__{unknown[0]}' is not a parameter. "
            f"Valid ones are: {valid}.{own}"
        )


def module_keys(module: Any) -> tuple[str, ...] | None:
    """Name what a module can be given beside its two widths.

    Parameters
    ----------
    module : "mlp" or type
        The module, as its estimator takes it.

    Returns
    -------
    tuple of str or None
        The names; None if any name will do.

    Examples
    --------
    >>> from skrep.utils.net_params import module_keys
    >>> module_keys("mlp")
    ('dropout',)
    """
    if not isinstance(module, type):
        return ("dropout",)
    taken = inspect.signature(module).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in taken):
        return None
    by_place = [one.name for one in taken if one.kind <= one.POSITIONAL_OR_KEYWORD]
    by_name = [one.name for one in taken if one.kind is one.KEYWORD_ONLY]
    return (*by_place[2:], *by_name)
