"""The documentation says what the package does, for every public name."""

import importlib
import importlib.util
import inspect
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import ERROR_MSGS, Validator, validate
from sklearn.utils.estimator_checks import check_estimator

import skrep
from skrep.invariance import check_invariance
from skrep.utils.discovery import all_estimators

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def load(path: Path) -> ModuleType:
    """A module that lives beside the pages, importable by name so that it pickles."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def docs_extension() -> ModuleType:
    """The module of the build that writes the API reference."""
    return load(DOCS / "_ext" / "skrep_docs.py")


def public_objects() -> Iterator[str]:
    """Full names of public classes and functions, and of their own methods."""
    extension = docs_extension()
    for module in extension.subpackages():
        for name in extension.public_names(module):
            thing = getattr(module, name)
            if not callable(thing):
                continue
            yield f"{module.__name__}.{name}"
            if inspect.isclass(thing):
                for method in public_methods(thing):
                    yield f"{module.__name__}.{name}.{method}"


def public_methods(cls: type) -> Iterator[str]:
    """Methods and properties written in skrep, also in a base class of its."""
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        member = getattr(member, "__func__", member)
        member = getattr(member, "fget", member)
        written_here = str(getattr(member, "__module__", "")).startswith("skrep")
        if not name.startswith("_") and inspect.isfunction(member) and written_here:
            yield name


def fields_are_attributes(name: str) -> bool:
    """A result that users receive and never make documents what it holds."""
    thing = Validator._load_obj(name)
    fields = getattr(thing, "__dataclass_fields__", {})
    attributes = {a.name for a in NumpyDocString(inspect.getdoc(thing))["Attributes"]}
    return bool(fields) and fields.keys() <= attributes


def enabled_checks() -> set[str]:
    """Codes of the numpydoc checks that pyproject.toml asks for."""
    with open(ROOT / "pyproject.toml", "rb") as stream:
        listed = set(tomllib.load(stream)["tool"]["numpydoc_validation"]["checks"])
    return set(ERROR_MSGS) - listed if "all" in listed else listed


CHECKS = enabled_checks()
PUBLIC = list(public_objects())
ESTIMATORS = [pytest.param(cls, id=name) for name, cls in all_estimators()]


@pytest.mark.parametrize("name", PUBLIC)
def test_docstring(name):
    report = validate(name)
    assert report["docstring"], f"{name} has no docstring"
    checks = CHECKS - {"PR01"} if fields_are_attributes(name) else CHECKS
    errors = [f"{code}: {text}" for code, text in report["errors"] if code in checks]
    assert not errors, "\n".join([name, *errors])


def test_methods_are_seen():
    """The walk that feeds the docstring test finds inherited and own methods."""
    assert "skrep.relative.RelativeRepresentation.counterpart" in PUBLIC
    assert "skrep.relative.RelativeRepresentation.get_params" not in PUBLIC
    assert "skrep.nn.losses.LogDetLoss.forward" in PUBLIC
    assert "skrep.geometry.poincare.distance" in PUBLIC


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_user_guide_mentions(cls):
    pages = {p.name: p.read_text("utf-8") for p in DOCS.glob("user_guide/*.rst")}
    mention = re.compile(rf"\b{cls.__name__}\b")
    assert any(map(mention.search, pages.values())), (
        f"no page of docs/user_guide mentions {cls.__name__}: give it a section"
    )


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_doc_link_leads_to_the_page_that_is_built(cls):
    extension = docs_extension()
    pages = {
        extension.page_of(module, name)
        for module in extension.subpackages()
        for name in extension.public_names(module)
    }
    link = cls.__new__(cls)._get_doc_link()
    assert link.partition("/en/stable/")[2] in pages


def test_reference_lists_every_public_name():
    extension = docs_extension()
    for module in extension.subpackages():
        page = extension.api_page(module)
        for name in extension.public_names(module):
            assert re.search(rf"^(   |\.\. data:: ){name}$", page, re.M), name


def test_modules_among_public_names_have_pages_of_their_own():
    extension = docs_extension()
    pages = {module.__name__: module for module in extension.subpackages()}
    for name in skrep.__all__:
        named = extension.named_modules(getattr(skrep, name))
        assert {module.__name__ for module in named} <= pages.keys()
    geometry = pages["skrep.geometry"]
    assert "row_norms" in extension.public_names(geometry)
    assert "poincare" not in extension.public_names(geometry)
    page = extension.api_page(geometry)
    assert "* :doc:`skrep.geometry.poincare`: Points of the Poincare ball" in page
    assert "skrep.nn" not in pages
    assert "skrep.nn.losses" in pages


def test_types_are_mended():
    r"""What the build does to docstrings, so that authors need not think of it."""
    mend = docs_extension().mend_types
    assert mend(["n : ndarray of shape (n_a_, b)"]) == [
        r"n : ndarray of shape (n_a\_, b)"
    ]
    assert mend(['n : {"a", \\', '        "b"}, default="a"']) == [
        'n : {"a", "b"}, default="a"'
    ]


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_relative_links_exist(page):
    text = (ROOT / page).read_text("utf-8")
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    local = [link for link in links if "://" not in link and ":" not in link]
    missing = [link for link in local if not (ROOT / link).exists()]
    assert not missing, f"{page} links to {missing}"


def test_labels_that_docstrings_use_exist():
    """A docstring's link to the user guide leads to a label of a page."""
    labels = {
        label
        for page in DOCS.rglob("*.rst")
        for label in re.findall(r"^\.\. _([\w-]+):$", page.read_text("utf-8"), re.M)
    }
    wanted = {
        (name, label)
        for name in PUBLIC
        for label in re.findall(r":ref:`[^`<]*<([\w-]+)>`", validate(name)["docstring"])
    }
    dead = {name: label for name, label in wanted if label not in labels}
    assert not dead


def test_template_of_the_developers_page_is_a_good_estimator():
    template = load(DOCS / "developers" / "peak_scaler.py")
    results = check_estimator(template.PeakScaler(), on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}
    rows = np.random.default_rng(0).normal(size=(20, 3))
    for claim in template.PeakScaler().invariances():
        assert check_invariance(template.PeakScaler(), claim, rows)
    report = validate("peak_scaler.PeakScaler")
    assert not [code for code, _ in report["errors"] if code in CHECKS]
