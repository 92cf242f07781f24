"""What estimators that own a network share: standardized rows, training, encoding."""

from skrep._neural._network import build_network, check_embedded, embed
from skrep._neural._standardize import Standardization, standardization
from skrep._neural._training import (
    check_network_params,
    draw_seed,
    hold_out,
    hold_out_rows,
    require_torch,
    run_training,
    tensor_rows,
    training_plan,
    training_rows,
)
from skrep._neural._transformer import (
    NET_CONSTRAINTS,
    TRAINING_CONSTRAINTS,
    NetTransformer,
)

__all__ = [
    "NET_CONSTRAINTS",
    "TRAINING_CONSTRAINTS",
    "NetTransformer",
    "Standardization",
    "build_network",
    "check_embedded",
    "check_network_params",
    "draw_seed",
    "embed",
    "hold_out",
    "hold_out_rows",
    "require_torch",
    "run_training",
    "standardization",
    "tensor_rows",
    "training_plan",
    "training_rows",
]
