"""Public functions of tools, tool broker, client and configuration describe each argument under `Args:`.

A method that implements a port has its description there (`test_ports_are_described.py`).
"""

import pytest
from support.basics import ROOT
from support.described_arguments import Function, arguments, described_arguments, ports_of, public_functions

_FOLDERS = ("tools", "tts/toolkit", "geotts_client", "tts/config", "deployments/config")
_PORTS = ("tts/ports", "tts/toolkit", "tts/net", "tools")


def method_names(source):
    """The names of the methods of all ports of a module."""
    return {node.name for port in ports_of(source) for node in port.body if isinstance(node, Function)}


def undescribed(source, described_in_ports=frozenset()):
    """The arguments without an entry, as function(argument)."""
    return [
        f"{name}({argument})"
        for name, function, is_method in public_functions(source)
        if not (is_method and function.name in described_in_ports)
        for argument in arguments(function)
        if argument not in described_arguments(function)
    ]


@pytest.mark.parametrize("folder", _FOLDERS)
def test_every_argument_of_a_public_function_is_described(folder):
    texts = [path.read_text("utf-8") for port in _PORTS for path in sorted((ROOT / port).rglob("*.py"))]
    in_ports = {name for text in texts for name in method_names(text)}
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert paths
    missing = {str(path.relative_to(ROOT)): undescribed(path.read_text("utf-8"), in_ports) for path in paths}
    assert {name: found for name, found in missing.items() if found} == {}


def test_an_argument_without_an_entry_is_missed():
    source = 'class A:\n    def f(self, n: int) -> None:\n        """Do it."""\n\n\ndef g(m):\n    """Do it."""'
    assert undescribed(source) == ["A.f(n)", "g(m)"]
    assert undescribed(source, {"f", "g"}) == ["g(m)"]
    assert undescribed(source.replace('it."""', 'it.\n\n    Args:\n        m: what.\n    """')) == ["A.f(n)"]
