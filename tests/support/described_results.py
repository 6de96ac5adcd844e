"""Which results and errors of a function a docstring describes: its sections `Returns:`, `Yields:` and `Raises:`."""

import ast
import re

from support.described_arguments import Function, arguments, ports_of

_SECTION = re.compile(r"^(Returns|Yields):\n    \S", re.MULTILINE)
_ENTRY = re.compile(r"    ([\w.]+(?:, [\w.]+)*): \S")
_NO_RESULT_TYPES = ("None", "NoReturn", "Iterator[None]", "AsyncIterator[None]")
_INNER_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def gives_nothing(function):
    """Whether there is no result to describe. The first line of a property says what the property is."""
    decorators = {ast.unparse(node).rpartition(".")[2] for node in function.decorator_list}
    stated = "None" if function.returns is None else ast.unparse(function.returns)
    return stated in _NO_RESULT_TYPES or bool(decorators & {"property", "cached_property", "overload"})


def describes_result(function):
    """Whether a section says what comes back: `Yields:` for a generator, either section for other functions."""
    sections = set(_SECTION.findall(ast.get_docstring(function) or ""))
    return "Yields" in sections or ("Returns" in sections and not _has_yield(function))


def port_methods(source):
    """The errors that each method of a module's ports names, by the name and the arguments of the method."""
    return {
        _signature(method): named_errors(method)
        for port in ports_of(source)
        for method in port.body
        if isinstance(method, Function)
    }


def errors_in_port(function, ports):
    """The errors that a port names for a method of this name with these arguments; None if no port has one."""
    return ports.get(_signature(function))


def named_errors(*nodes):
    """The exceptions that have an entry in the section `Raises:` of a docstring, without the names of modules."""
    names = set()
    for node in nodes:
        _, _, after = (ast.get_docstring(node) or "").partition("Raises:\n")
        entries = [_ENTRY.match(line) for line in after.partition("\n\n")[0].split("\n")]
        names |= {name.rpartition(".")[2] for entry in entries if entry for name in entry[1].split(", ")}
    return names


def raised_errors(function):
    """The exceptions that a function raises itself and does not catch; "" for one that another function made."""
    return set(_raised_names(function.body, frozenset()))


def _signature(function):
    return function.name, tuple(arguments(function))


def _own_nodes(nodes):
    """The nodes below, without those of inner functions and classes."""
    for node in nodes:
        if not isinstance(node, _INNER_SCOPES):
            yield node
            yield from _own_nodes(ast.iter_child_nodes(node))


def _has_yield(function):
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in _own_nodes(function.body))


def _raised_names(nodes, caught):
    for node in nodes:
        if isinstance(node, ast.Try):
            inside = caught | {name for handler in node.handlers for name in _caught_names(handler)}
            yield from _raised_names(node.body, inside)
            yield from _raised_names([*node.handlers, *node.orelse, *node.finalbody], caught)
        elif isinstance(node, ast.Raise) and node.exc is not None:
            name = _exception_class(node.exc)
            if not caught & {name, "Exception", "BaseException"} and name != "NotImplementedError":
                yield name
        elif not isinstance(node, _INNER_SCOPES):
            yield from _raised_names(ast.iter_child_nodes(node), caught)


def _caught_names(handler):
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {"BaseException" if kind is None else ast.unparse(kind).rpartition(".")[2] for kind in kinds}


def _exception_class(raised):
    """`ConfigError` in `ConfigError(…)` and in `errors.ConfigError.because(…)`; "" where no class is named."""
    made = raised.func if isinstance(raised, ast.Call) else raised
    classes = [part for part in ast.unparse(made).split(".") if re.fullmatch(r"[A-Z]\w*", part)]
    return classes[-1] if classes else ""
