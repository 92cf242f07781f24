"""What estimators that own a network share: standardized rows, training, encoding."""

from skrep._neural._network import build_network, check_embedded, embed
from skrep._neural._standardize import Standardization, standardization
from skrep._neural._training import (
    check_network_params,
    draw_seed,
    hold_out_rows,
    run_training,
    tensor_rows,
    training_plan,
)
from skrep._neural._transformer import NET_CONSTRAINTS, NetTransformer
from skrep.utils.fitting import all_or_nothing

__all__ = [
    "NET_CONSTRAINTS",
    "NetTransformer",
    "Standardization",
    "all_or_nothing",
    "build_network",
    "check_embedded",
    "check_network_params",
    "draw_seed",
    "embed",
    "hold_out_rows",
    "run_training",
    "standardization",
    "tensor_rows",
    "training_plan",
]
