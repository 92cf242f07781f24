"""The tree keeps its shape."""

import ast
import inspect
import textwrap
from pathlib import Path

import pytest

import skrep
from skrep.utils.discovery import all_estimators

ROOT = Path(skrep.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))


def test_files_hold_one_idea():
    long = {str(f): n for f in FILES if (n := len(f.read_text().splitlines())) > 500}
    assert not long


@pytest.mark.parametrize(("name", "cls"), all_estimators())
def test_shells_are_thin(name, cls):
    """An estimator validates, calls and stores; mathematics is in functions."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    parts = [tree.body[0], *(n for n in ast.walk(tree) if type(n) is ast.FunctionDef)]
    docs = [node.body[0] for node in parts if ast.get_docstring(node)]
    length = tree.body[0].end_lineno - tree.body[0].lineno + 1
    length -= sum(doc.end_lineno - doc.lineno + 1 for doc in docs)
    assert length <= 160, f"{name} has {length} lines of code"


def test_estimators_are_discovered():
    names = [name for name, _ in all_estimators()]
    assert {"LatentAlignment", "RelativeRepresentation"} <= set(names)
    assert names == sorted(names)
