"""Directions of other libraries, (r, d) arrays with one direction per row.

``sliced`` 0.7 does not import on numpy 2 and setuptools 84: `shimmed_sliced` puts
back the names that it asks for. statsmodels cuts the sorted rows into slices of
equal size, direpack at quantiles: equal to those of skrep where no value is repeated
and ten divides the number of rows.
"""

import contextlib
import io
import sys
import types
from functools import cache
from importlib.metadata import version

import numpy as np
from _index_protocol import N_SLICES, Directions
from direpack import sudire
from sklearn.cross_decomposition import CCA, PLSRegression
from sklearn.decomposition import PCA
from sklearn.utils.fixes import parse_version
from statsmodels.regression.dimred import (
    PHD,
    SAVE,
    SIR,
)


@cache
def shimmed_sliced() -> types.ModuleType:
    """The package ``sliced``, with the names that numpy and setuptools dropped."""
    vars(np).update(int=int)
    numeric = types.ModuleType("numpy.core.numeric")
    numeric.ComplexWarning = np.exceptions.ComplexWarning
    shims = {
        "six": types.SimpleNamespace(string_types=(str,)),
        "pkg_resources": types.SimpleNamespace(parse_version=parse_version),
        "numpy.core.numeric": numeric,
    }
    missing = {name: shim for name, shim in shims.items() if name not in sys.modules}
    sys.modules.update(missing)
    import sliced

    for name in missing:
        del sys.modules[name]
    return sliced


def statsmodels_fit(method: type, X: np.ndarray, y: np.ndarray, n_slices: int):
    asked = {} if method is PHD else {"slice_n": len(y) // n_slices}
    return method(y, X).fit(**asked)


def statsmodels_directions(method: type, n_slices: int = N_SLICES) -> Directions:
    def directions(X: np.ndarray, y: np.ndarray, r: int) -> np.ndarray:
        return statsmodels_fit(method, X, y, n_slices).params[:, :r].T

    return directions


def direpack_fit(
    method: str, X: np.ndarray, y: np.ndarray, r: int, **params: object
) -> sudire:
    model = sudire(
        method, n_components=r, verbose=False, **{"n_slices": N_SLICES, **params}
    )
    with contextlib.redirect_stdout(io.StringIO()):
        return model.fit(X, y)


def direpack_directions(method: str) -> Directions:
    return lambda X, y, r: direpack_fit(method, X, y, r).x_loadings_.T


def sliced_directions(method: str) -> Directions:
    def directions(X: np.ndarray, y: np.ndarray, r: int) -> np.ndarray:
        model = getattr(shimmed_sliced(), method)(r, n_slices=N_SLICES)
        return model.fit(X, y).directions_

    return directions


def spanned(model: type) -> Directions:
    """scikit-learn's rotations, which map centered rows to scores."""
    return lambda X, y, r: model(n_components=r).fit(X, y).x_rotations_.T


STATSMODELS = {"SIR": SIR, "SAVE": SAVE, "pHd": PHD}

MOMENT_PEERS: dict[str, Directions] = {
    f"statsmodels {name}": statsmodels_directions(method)
    for name, method in STATSMODELS.items()
} | {"direpack DR": direpack_directions("dr")}

SHARED_PEERS: dict[str, Directions] = {
    "sliced SIR": sliced_directions("SlicedInverseRegression"),
    "sliced SAVE": sliced_directions("SlicedAverageVarianceEstimation"),
    "direpack SIR": direpack_directions("sir"),
    "direpack SAVE": direpack_directions("save"),
    "direpack pHd": direpack_directions("phd"),
}

PROJECTION_PEERS: dict[str, Directions] = {
    "PLSRegression": spanned(PLSRegression),
    "CCA": spanned(CCA),
    "PCA": lambda X, y, r: PCA(r).fit(X).components_,
}

ALL_PEERS = MOMENT_PEERS | SHARED_PEERS | PROJECTION_PEERS


def versions() -> str:
    names = ("statsmodels", "direpack", "sliced")
    return "\n".join(f"{name:<14} {version(name)}" for name in names)
