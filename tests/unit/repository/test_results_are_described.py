"""Public functions of ports, tools, tool broker, client and configuration describe what they return, and what they
raise themselves.

A method that implements a port has its description there.
"""

import pytest
from support.basics import ROOT
from support.described_arguments import constructors, ports_of, public_functions
from support.described_results import (
    describes_result,
    errors_in_port,
    gives_nothing,
    named_errors,
    port_methods,
    raised_errors,
)

_FOLDERS = ("tts/ports", "tools", "tts/toolkit", "geotts_client", "tts/config", "deployments/config")
_PORTS = ("tts/ports", "tts/toolkit", "tts/net", "tools")


def sources(*folders):
    """The modules of the folders, by their paths."""
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths}


@pytest.fixture(scope="module")
def ports():
    methods: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    for source in sources(*_PORTS).values():
        for method, errors in port_methods(source).items():
            methods[method] = methods.get(method, set()) | errors
    return methods


def without_result(source, ports):
    """The functions that do not say what they return or yield."""
    own = {port.name for port in ports_of(source)}
    return [
        name
        for name, function, is_method in public_functions(source)
        if not (is_method and name.partition(".")[0] not in own and errors_in_port(function, ports) is not None)
        if not gives_nothing(function) and not describes_result(function)
    ]


def without_errors(source, ports):
    """What is raised and has no entry, as function(exception); `?` for an exception that another function made."""
    functions = [(name, function, named_errors(function)) for name, function, _ in public_functions(source)]
    functions += [(made.name, function, named_errors(made, function)) for made, function in constructors(source)]
    missing = []
    for name, function, own in functions:
        named = own | (errors_in_port(function, ports) or set())
        missing += [f"{name}({error})" for error in sorted(raised_errors(function) - {""} - named)]
        missing += [f"{name}(?)"] if "" in raised_errors(function) and not named else []
    return missing


@pytest.mark.parametrize("folder", _FOLDERS)
@pytest.mark.parametrize("check", [without_result, without_errors])
def test_every_result_and_every_error_is_described(check, folder, ports):
    missing = {name: check(source, ports) for name, source in sources(folder).items()}
    assert missing
    assert {name: functions for name, functions in missing.items() if functions} == {}


RESULT = '''
class P(Protocol):
    def f(self, n: int) -> int:
        """Do it."""

class A:
    def f(self, n: int) -> int:
        """Do it."""

    @property
    def g(self) -> int:
        """The number of things."""

    def h(self) -> None:
        """Do it."""

def made() -> int:
    """Do it.

    Returns:
        How many things there were.
    """

def several() -> Iterator[int]:
    """Do it.

    Returns:
        How many things there were.
    """
    yield 1
'''


def test_a_result_without_a_section_is_reported():
    assert without_result(RESULT, {}) == ["P.f", "A.f", "several"]
    assert without_result(RESULT, port_methods(RESULT)) == ["P.f", "several"]
    assert without_result(RESULT.replace("    Returns:\n        How", "    Returns:\n\n    How"), {})[-2:] == [
        "made",
        "several",
    ]
    assert without_result(RESULT.replace("Returns:", "Yields:"), {}) == ["P.f", "A.f"]


ERROR = '''
class A:
    """It does it.

    Raises:
        OSError: never.
    """

    def __init__(self) -> None:
        raise OSError

    def f(self) -> None:
        """Do it."""
        raise errors.ConfigError("no")

def caught() -> None:
    """Do it."""
    try:
        raise KeyError("no")
    except KeyError:
        raise

def inner() -> None:
    """Do it."""
    def g() -> None:
        raise KeyError("no")

def of_another() -> None:
    """Do it."""
    raise refusal("no")

def to_do() -> None:
    """Do it."""
    raise NotImplementedError
'''


def test_an_error_without_an_entry_is_reported():
    assert without_errors(ERROR, {}) == ["A.f(ConfigError)", "of_another(?)"]
    assert without_errors(ERROR, {("f", ()): {"ConfigError"}}) == ["of_another(?)"]
    assert without_errors(ERROR.replace("OSError: never", "ValueError: never"), {})[-1] == "A(OSError)"
    assert without_errors(ERROR.replace("except KeyError", "except OSError"), {})[1] == "caught(KeyError)"
    named = ERROR.replace('it."""\n    raise r', 'it.\n\n    Raises:\n        ToolError: always.\n    """\n    raise r')
    assert without_errors(named, {}) == ["A.f(ConfigError)"]
