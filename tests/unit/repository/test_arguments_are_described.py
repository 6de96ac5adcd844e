"""Public functions of tools, tool broker, client and configuration describe each argument under `Args:`, and so do
public classes for those of their constructors.

A method that implements a port has its description there (`test_ports_are_described.py`).
"""

import pytest
from support.basics import ROOT
from support.described_arguments import arguments, constructors, described_arguments, public_functions
from support.described_results import errors_in_port, port_methods

_FOLDERS = ("tools", "tts/toolkit", "geotts_client", "tts/config", "deployments/config", "tts/ports")
_PORTS = ("tts/ports", "tts/toolkit", "tts/net", "tools")


def undescribed_arguments(source, ports):
    """The arguments without an entry, as function(argument)."""
    functions = [
        (name, function, described_arguments(function))
        for name, function, is_method in public_functions(source)
        if not (is_method and errors_in_port(function, ports) is not None)
    ]
    functions += [
        (made.name, function, described_arguments(made) | described_arguments(function))
        for made, function in constructors(source)
    ]
    return [
        f"{name}({argument})"
        for name, function, entries in functions
        for argument in arguments(function)
        if argument not in entries
    ]


@pytest.mark.parametrize("folder", _FOLDERS)
def test_every_argument_of_a_public_function_is_described(folder):
    texts = [path.read_text("utf-8") for port in _PORTS for path in sorted((ROOT / port).rglob("*.py"))]
    in_ports = {method: errors for text in texts for method, errors in port_methods(text).items()}
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert paths
    missing = {str(path.relative_to(ROOT)): undescribed_arguments(path.read_text("utf-8"), in_ports) for path in paths}
    assert {name: found for name, found in missing.items() if found} == {}


def test_an_argument_without_an_entry_is_reported():
    source = 'class A:\n    def f(self, n: int) -> None:\n        """Do it."""\n\n\ndef g(m):\n    """Do it."""'
    assert undescribed_arguments(source, {}) == ["A.f(n)", "g(m)"]
    assert undescribed_arguments(source, {("f", ("n",)): set(), ("g", ("m",)): set()}) == ["g(m)"]
    assert undescribed_arguments(source, {("f", ("m",)): set()}) == ["A.f(n)", "g(m)"]
    assert undescribed_arguments(source.replace('it."""', 'it.\n\n    Args:\n        m: what.\n    """'), {}) == [
        "A.f(n)"
    ]


def test_the_class_or_its_constructor_describes_an_argument_of_the_constructor():
    source = 'class A:\n    """It does it."""\n\n    def __init__(self, n):\n        """Make it."""'
    made = 'Make it.\n\n        Args:\n            n: what.\n        """'
    assert undescribed_arguments(source, {}) == ["A(n)"]
    assert (
        undescribed_arguments(source.replace('does it."""', 'does it.\n\n    Args:\n        n: what.\n    """'), {})
        == []
    )
    assert undescribed_arguments(source.replace('Make it."""', made), {}) == []
