"""Which arguments a docstring describes: those with an entry in its section `Args:`."""

import ast
import re

_ENTRY = re.compile(r"    ([a-z_0-9]+(?:, [a-z_0-9]+)*): \S")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def described_arguments(function):
    """The arguments that have an entry in the section `Args:` of the docstring."""
    _, _, after = (ast.get_docstring(function) or "").partition("Args:\n")
    section = after.partition("\n\n")[0]
    return {name for line in section.split("\n") if (found := _ENTRY.match(line)) for name in found[1].split(", ")}


def arguments(function):
    """The arguments that a caller gives, without `self` and `cls`."""
    plain = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    return [argument.arg for argument in plain if argument.arg not in ("self", "cls")]


def constructors(source):
    """The constructors of the public classes of a module, as (class, `__init__`)."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from ((node, made) for made in node.body if isinstance(made, Function) and made.name == "__init__")


def ports_of(source):
    """The protocol classes of a module."""
    return [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases)
    ]


def public_functions(source):
    """The public functions and methods of a module, as (name, function, whether it is a method)."""
    yield from _walk_public(ast.parse(source).body, "")


def _walk_public(body, prefix):
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _walk_public(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, Function) and not node.name.startswith("_"):
            yield f"{prefix}{node.name}", node, bool(prefix)
