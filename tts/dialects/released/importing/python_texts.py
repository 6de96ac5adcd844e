"""Reads texts from Python source without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from tts.errors import ConfigError

T = TypeVar("T")
_MAX_DEPTH: Final = 64  # names and sums within one another


def parse_file(path: Path) -> ast.Module:
    """Raises ConfigError when the file is not there or is no Python."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, SyntaxError) as error:
        raise ConfigError(f"{path} cannot be read as Python: {type(error).__name__}") from error


def assigned_text(tree: ast.AST, name: str, path: Path) -> str:
    """The text that `name` is first set to, f-string expressions in braces. Raises ConfigError without one.

    `name` as in the source: `self.prompt` for an attribute.
    """
    text = next((text for value in _values(tree, name) if (text := text_of(value)) is not None), None)
    return _found(text, "text", name, path)


def joined_text(tree: ast.AST, name: str, path: Path) -> str:
    """The text of `name` where it is made of other names of the file. Raises ConfigError where one is no text."""
    text = _joined_text(ast.Name(id=name), _assigned_names(ast.walk(tree)), depth=0)
    return _found(text, "text", name, path)


def literal(tree: ast.AST, name: str, path: Path) -> Any:
    """The value of constants that `name` is set to. Raises ConfigError without one."""
    found = next((found for value in _values(tree, name) if (found := _literal(value)) is not None), None)
    return _found(found, "constant", name, path)


def returned_text(tree: ast.AST, name: str, path: Path) -> str:
    """The text that a function gives back. Raises ConfigError where it gives none."""
    for node in ast.walk(function(tree, name, path)):
        if isinstance(node, ast.Return) and node.value is not None and (text := text_of(node.value)) is not None:
            return text
    raise ConfigError(f"{path}: {name} gives back no text: is it the authors' repository?")


def function(tree: ast.AST, name: str, path: Path) -> ast.FunctionDef:
    """The first function of this name, methods included. Raises ConfigError when there is none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise ConfigError(f"{path} has no function {name}: is it the authors' repository?")


def text_of(node: ast.AST) -> str | None:
    """A string as written: constants, sums and f-strings; what is computed stands in braces as its source."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or "" for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return f"{{{ast.unparse(node.value)}}}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = text_of(node.left), text_of(node.right)
        return (
            f"{left if left is not None else _source(node.left)}{right if right is not None else _source(node.right)}"
        )
    return None


def dictionaries(tree: ast.AST) -> Iterator[dict[str, ast.expr]]:
    """Every dict display with string keys, in the order of the source."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    for node in sorted(nodes, key=lambda found: (found.lineno, found.col_offset)):
        pairs = zip(node.keys, node.values, strict=True)
        yield {key.value: value for key, value in pairs if isinstance(key, ast.Constant) and isinstance(key.value, str)}


def registered_tools(tree: ast.AST) -> Iterator[dict[str, Any]]:
    """Schemas of classes under `@register_tool('name')` with a description and parameters of their own."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef) or (name := _registered_name(node)) is None:
            continue
        fields = _assigned_names(node.body)
        if "description" in fields and "parameters" in fields:
            description, parameters = (_literal(fields[key]) for key in ("description", "parameters"))
            if isinstance(description, str) and isinstance(parameters, dict):
                yield {"name": name, "description": description, "parameters": parameters}


def _registered_name(node: ast.ClassDef) -> str | None:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("register_tool") and decorator.args:
            return text_of(decorator.args[0])
    return None


def _assigned_names(nodes: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """What each name is set to, the last where there are several."""
    return {
        target.id: node.value
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _found(value: T | None, kind: str, name: str, path: Path) -> T:
    if value is None:
        raise ConfigError(f"{path} sets no {kind} named {name}: is it the authors' repository?")
    return value


def _values(tree: ast.AST, name: str) -> Iterator[ast.expr]:
    """What a name is set to, in the order of `ast.walk`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == name for target in node.targets):
            yield node.value


def _joined_text(node: ast.expr, known: Mapping[str, ast.expr], *, depth: int) -> str | None:
    """A sum of texts and names of texts; None for anything else, and for names that lead in circles."""
    if depth > _MAX_DEPTH:
        return None
    if isinstance(node, ast.Name):
        return _joined_text(known[node.id], known, depth=depth + 1) if node.id in known else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = (_joined_text(side, known, depth=depth + 1) for side in (node.left, node.right))
        return None if left is None or right is None else left + right
    return text_of(node)


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _source(node: ast.AST) -> str:
    return f"{{{ast.unparse(node)}}}"
