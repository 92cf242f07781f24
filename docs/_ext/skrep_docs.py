"""What the build writes itself: the API reference, tables, links to other projects.

The reference is found by walking the ``__all__`` of every public subpackage, so that
a new estimator has its page without being listed anywhere. The functions above
``setup`` need no Sphinx: the tests call them.
"""

import importlib
import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from sklearn.base import BaseEstimator

import skrep

GENERATED = "generated"
_HEAD = [".. The build writes this page from the package; edits are lost.", ""]

# Role targets of other projects become plain links; nothing is fetched.
_FOREIGN_PAGES = {
    "sklearn": "https://scikit-learn.org/stable/modules/generated/{name}.html",
    "numpy": "https://numpy.org/doc/stable/reference/generated/{name}.html",
    "scipy": "https://docs.scipy.org/doc/scipy/reference/generated/{name}.html",
}


def subpackages() -> list[ModuleType]:
    """Public subpackages, those that hold an estimator first, then by name."""
    found = [importlib.import_module(f"skrep.{name}") for name in skrep.__all__]
    modules = [part for module in found for part in _parts(module)]
    return sorted(modules, key=lambda m: (not _holds_estimator(m), m.__name__))


def _parts(module: ModuleType) -> list[ModuleType]:
    """Give the modules that hold its public names: itself, and those it names."""
    parts = named_modules(module)
    return [module, *parts] if public_names(module) or not parts else parts


def named_modules(module: ModuleType) -> list[ModuleType]:
    """Modules among the public names of a subpackage; each has a page of its own."""
    things = [getattr(module, name) for name in module.__all__]
    return [thing for thing in things if isinstance(thing, ModuleType)]


def public_names(module: ModuleType) -> list[str]:
    """What a subpackage offers: classes, then functions, then constants."""

    def kind(name: str) -> int:
        thing = getattr(module, name)
        return 0 if inspect.isclass(thing) else 1 if callable(thing) else 2

    modules = {thing.__name__ for thing in named_modules(module)}
    names = [n for n in module.__all__ if f"{module.__name__}.{n}" not in modules]
    return sorted(names, key=lambda name: (kind(name), name))


def api_index() -> str:
    """Source of the reference's first page: every public name on one page."""
    lines = [
        *_HEAD,
        ".. _api:",
        "",
        *_title("API reference", "="),
        "A name is public when the ``__all__`` of its subpackage holds it. "
        "Anything else may change without notice.",
        "",
        ".. toctree::",
        "   :hidden:",
        "",
        *(f"   {module.__name__}" for module in subpackages()),
        "",
    ]
    for module in subpackages():
        lines += [
            *_title(f":doc:`{module.__name__}`", "-"),
            f".. currentmodule:: {module.__name__}",
            "",
            _summary(module),
            "",
            *_table(module),
        ]
    return "\n".join(lines)


def api_page(module: ModuleType) -> str:
    """Source of a subpackage's page, from which the pages of its names hang."""
    lines = [
        *_HEAD,
        *_title(module.__name__, "="),
        f".. module:: {module.__name__}",
        "",
        _summary(module),
        "",
        *_table(module, f"   :toctree: {GENERATED}"),
        *(
            f"* :doc:`{part.__name__}`: {_summary(part)}"
            for part in named_modules(module)
        ),
        "",
    ]
    for name in public_names(module):
        thing = getattr(module, name)
        if isinstance(thing, Mapping):
            lines += [f".. data:: {name}", "", "   .. list-table::", ""]
            for key, value in thing.items():
                lines += [f"      * - ``{key}``", f"        - {value}"]
            lines.append("")
    return "\n".join(lines)


def page_of(module: ModuleType, name: str) -> str:
    """Address of a public name's page, relative to the root of the site."""
    return f"api/{GENERATED}/{module.__name__}.{name}.html"


def similarity_table() -> str:
    """Which groups leave each similarity unchanged, as the estimators declare it.

    The anchors are fixed rows, so that only the similarity speaks: a selection that
    sees distances narrows the claims further.
    """
    from skrep.invariance import Claim
    from skrep.relative import RelativeRepresentation
    from skrep.relative._kinds import SIMILARITIES

    groups = {
        "orthogonal": "rotation, reflection",
        "positive_scaling": "one scale",
        "translation": "translation",
        "column_permutation": "permuted columns",
        "sign_flip": "flipped signs",
        "column_scaling": "a scale per column",
        "invertible_affine": "invertible affine",
    }
    lines = [
        ".. list-table::",
        "   :header-rows: 1",
        "   :class: invariances",
        "",
        "   * - ``similarity``",
        *(f"     - {words}" for words in groups.values()),
        "     - CSR input",
    ]
    for name, entry in SIMILARITIES.items():
        claims = RelativeRepresentation(anchors=[0], similarity=name).invariances()
        lines.append(f'   * - ``"{name}"``')
        for group in groups:
            held = any(claim.implies(Claim(group)) for claim in claims)
            lines.append("     - yes" if held else "     -")
        lines.append("     - yes" if entry.sparse else "     -")
    return "\n".join(lines) + "\n"


def mend_types(lines: list[str]) -> list[str]:
    r"""Spare docstrings two traps of reStructuredText in the types of parameters.

    A type may be continued on the next line after a backslash, also in a raw
    docstring; and ``of shape (n_anchors_,)`` is no link to "n_anchors".
    """
    text = re.sub(r" *\\\n\s*", " ", "\n".join(lines))
    return re.sub(
        r"of shape \([^()`]*\)",
        lambda shape: re.sub(r"(\w)_(?!\w)", r"\1\\_", shape[0]),
        text,
    ).split("\n")


def _holds_estimator(module: ModuleType) -> bool:
    things = (getattr(module, name) for name in module.__all__)
    return any(inspect.isclass(t) and issubclass(t, BaseEstimator) for t in things)


def _table(module: ModuleType, *options: str) -> list[str]:
    names = [name for name in public_names(module) if callable(getattr(module, name))]
    entries = [f"   {name}" for name in names]
    return [".. autosummary::", *options, "   :nosignatures:", "", *entries, ""]


def _summary(module: ModuleType) -> str:
    return inspect.cleandoc(module.__doc__ or "").partition("\n")[0]


def _title(text: str, line: str) -> list[str]:
    return [text, line * len(text), ""]


def write_if_changed(path: Path, text: str) -> None:
    """Write, unless the file says so already: Sphinx rereads what is newer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _write_pages(app, config) -> None:
    source = Path(app.srcdir)
    current = {f"{m.__name__}.{n}" for m in subpackages() for n in public_names(m)}
    for page in (source / "api" / GENERATED).glob("*.rst"):
        if page.stem not in current:
            page.unlink()
    write_if_changed(source / "api" / "index.rst", api_index())
    for module in subpackages():
        page = source / "api" / f"{module.__name__}.rst"
        write_if_changed(page, api_page(module))
    table = source / "_generated" / "relative_invariances.rst"
    write_if_changed(table, similarity_table())


def _mend_docstring(app, what, name, thing, options, lines):
    lines[:] = mend_types(lines)


def _foreign_link(app, env, node, contnode):
    from docutils import nodes

    target = node.get("reftarget", "")
    page = _FOREIGN_PAGES.get(target.partition(".")[0])
    if page is None or node.get("refdomain") != "py" or "." not in target:
        return None
    return nodes.reference(
        "", "", contnode, internal=False, refuri=page.format(name=target)
    )


def setup(app):
    """Register the hooks with Sphinx."""
    # Before autosummary and the gallery look for sources.
    app.connect("config-inited", _write_pages, priority=100)
    # Before numpydoc, which has the default priority.
    app.connect("autodoc-process-docstring", _mend_docstring, priority=100)
    app.connect("missing-reference", _foreign_link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
