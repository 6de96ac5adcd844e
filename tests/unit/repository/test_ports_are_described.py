"""A port says of each argument and of each result what an implementer has to know, under `Args:` and `Returns:`."""

import re

import pytest
from support.basics import ROOT
from support.described_arguments import Function, arguments, described_arguments, ports_of
from support.described_results import describes_result, gives_nothing

_FOLDERS = ("tts/ports", "deployments/runstore", "deployments/wiring", "tools")
_FILES = ("tts/dialects/base.py", "tts/toolkit/broker/cache_store.py", "tts/egress/log_writer.py")
_KNOWN = (
    "tts/ports/router.py: Router",
    "tts/ports/rollout_groups.py: Rollouts",
    "tts/dialects/base.py: Dialect",
    "tts/toolkit/broker/cache_store.py: CacheStore",
    "deployments/runstore/port.py: RunStore",
    "deployments/runstore/blobs.py: BlobStore",
    "deployments/runstore/case_record.py: CaseStore",
    "tools/places.py: PlacesProvider",
    "tools/maps.py: MapsProvider",
    "tools/web.py: WebProvider",
)


def undescribed_arguments(source):
    """The arguments without an entry, as port.method(argument)."""
    return [
        f"{port.name}.{method.name}({argument})"
        for port in ports_of(source)
        for method in port.body
        if isinstance(method, Function)
        for argument in arguments(method)
        if argument not in described_arguments(method)
    ]


def sources():
    """The modules that hold ports."""
    found = [path for folder in _FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    found += [ROOT / name for name in _FILES]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in found}


def test_every_argument_of_a_port_is_described():
    assert {name: missing for name, source in sources().items() if (missing := undescribed_arguments(source))} == {}


def without_result(source):
    """The methods that do not say what they return, as port.method."""
    return [
        f"{port.name}.{method.name}"
        for port in ports_of(source)
        for method in port.body
        if isinstance(method, Function) and not gives_nothing(method) and not describes_result(method)
    ]


def test_every_result_of_a_port_is_described():
    assert {name: missing for name, source in sources().items() if (missing := without_result(source))} == {}


def test_the_ports_of_the_architecture_are_among_those_that_are_looked_at():
    ports = {f"{name}: {port.name}" for name, source in sources().items() for port in ports_of(source)}
    assert ports >= set(_KNOWN)


@pytest.mark.parametrize("port", _KNOWN)
def test_a_removed_section_of_a_port_is_reported(port):
    name, _, port_name = port.partition(": ")
    source = (ROOT / name).read_text("utf-8")
    sections = [found.start() for found in re.finditer(" {8}Args:\n", source[: _end_of(source, port_name)])]
    sections = [at for at in sections if at > source.index(f"class {port_name}(")]
    assert sections
    for at in sections:
        assert undescribed_arguments(source[:at] + source[at:].replace("Args:", "Notes:", 1))


def _end_of(source, port_name):
    """Where the text of a class ends."""
    (port,) = (port for port in ports_of(source) if port.name == port_name)
    return len("".join(source.splitlines(keepends=True)[: port.end_lineno]))


@pytest.mark.parametrize(
    "section",
    [
        "Args:\n            m: an argument of another name.",
        "Returns:\n            n: what another section says describes no argument.",
        "Args:\n            n:",
    ],
)
def test_an_argument_without_an_entry_is_reported(section):
    port = 'class P(Protocol):\n    def f(self, n: int) -> None:\n        """Do it.\n\n        {}\n        """'
    assert undescribed_arguments(port.format(section)) == ["P.f(n)"]
    assert undescribed_arguments(port.format("Args:\n            m, n: two arguments.")) == []


def test_a_result_without_a_section_is_reported():
    port = 'class P(Protocol):\n    def f(self) -> {}:\n        """Do it."""'
    assert without_result(port.format("int")) == ["P.f"]
    assert without_result(port.format("None")) == []
