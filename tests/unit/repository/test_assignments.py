"""A constant and an attribute get a line of their own: a reader finds the name at the start of a line."""

import ast

import pytest
from support.docs_blocks import ROOT

_FOLDERS = ("tts", "tools", "deployments", "geotts_benchmarks", "geotts_client", "tests", "scripts", "examples")


def pairs(source):
    """The lines that assign several constants of a module or class, or several attributes, from as many values, or
    several attributes from one constant."""
    tree = ast.parse(source)
    constants = {
        id(statement)
        for scope in ast.walk(tree)
        if isinstance(scope, ast.Module | ast.ClassDef)
        for statement in scope.body
    }
    assignments = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    together = [
        node.lineno
        for node in assignments
        if isinstance(node.value, ast.Tuple)
        for target in node.targets
        if isinstance(target, ast.Tuple)
        and (id(node) in constants or any(isinstance(name, ast.Attribute) for name in target.elts))
    ]
    chained = [
        node.lineno
        for node in assignments
        if len(node.targets) > 1
        and isinstance(node.value, ast.Constant)
        and all(isinstance(target, ast.Attribute) for target in node.targets)
    ]
    return together + chained


def test_every_constant_and_attribute_has_a_line_of_its_own():
    files = [path for folder in _FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(files) > 800
    found = {str(path.relative_to(ROOT)): lines for path in files if (lines := pairs(path.read_text("utf-8")))}
    assert found == {}


@pytest.mark.parametrize(
    "source",
    [
        "LOW, HIGH = 1, 2",
        "class A:\n    low, high = 1, 2",
        "def f(self):\n    self.low, self.high = 1, 2",
        "def f(self):\n    self.low = self.high = 0",
    ],
)
def test_several_values_in_one_assignment_are_found(source):
    assert pairs(source)


@pytest.mark.parametrize(
    "source",
    [
        "LOW, HIGH = LIMITS",
        "def f(self):\n    self.low, self.high = limits()",
        "def f():\n    lat, lon = 1.0, 2.0\n    return lat, lon",
    ],
)
def test_an_unpacked_value_and_a_pair_in_a_function_are_allowed(source):
    assert not pairs(source)
