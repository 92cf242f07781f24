"""Inverse square roots of Gram matrices, with a gradient that never divides by zero."""

from typing import Any

import torch

__all__ = ["gram_root"]


class _InverseRoot(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, K: torch.Tensor) -> torch.Tensor:
        values, V = torch.linalg.eigh(K)
        roots = values.clamp_min(torch.finfo(K.dtype).tiny).sqrt()
        ctx.save_for_backward(V, roots)
        return (V / roots) @ V.T

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        V, s = ctx.saved_tensors
        # Divided differences of 1 / sqrt: their form has no difference of eigenvalues.
        divided = -1 / (torch.outer(s, s) * (s[:, None] + s))
        inner = V.T @ gradients[0] @ V
        outer: torch.Tensor = V @ (divided * (inner + inner.T) / 2) @ V.T
        return outer


def gram_root(units: torch.Tensor) -> torch.Tensor:
    r"""Compute :math:`(K + I)^{-1/2}` of the Gram matrix K of unit rows.

    Parameters
    ----------
    units : Tensor of shape (n_rows, n_features)
        Unit rows.

    Returns
    -------
    Tensor of shape (n_rows, n_rows)
        The symmetric root. Its gradient is exact where eigenvalues repeat, too, as
        those do of more rows than columns.
    """
    K = units @ units.T + torch.eye(len(units), dtype=units.dtype, device=units.device)
    root: torch.Tensor = _InverseRoot.apply(K)
    return root
