"""Importing skrep stays light."""

import pkgutil
import subprocess
import sys

import pytest

import skrep

# `nn` is what torch is for: it is the one subpackage that is not light.
PUBLIC = [
    info.name
    for info in pkgutil.iter_modules(skrep.__path__)
    if info.ispkg and not info.name.startswith("_") and info.name != "nn"
]
# Slow to import, and of no use until something is fitted or drawn.
HEAVY = {
    *("torch", "skorch", "matplotlib", "pandas", "polars", "pytest"),
    *("sklearn.cluster", "sklearn.linear_model", "sklearn.pipeline"),
}


def modules_after(code):
    """Names of the modules that a fresh interpreter holds after running code."""
    found = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(found.stdout.split())


def test_heavy_modules_stay_out():
    # scikit-learn itself imports pandas where there is one.
    base = modules_after("import sklearn")
    families = "; ".join(f"import skrep.{name}" for name in PUBLIC)
    assert not (modules_after(f"import sklearn; {families}") - base) & HEAVY


def test_import_skrep_alone_loads_nothing():
    assert not modules_after("import skrep") & {"numpy", "scipy", "sklearn"}


def test_families_are_found_by_name():
    assert skrep.relative.RelativeRepresentation is not None
    assert "relative" in dir(skrep)
    with pytest.raises(AttributeError, match="nothing"):
        _ = skrep.nothing
