"""Thinking with Map: the texts of the training loop and those of the notebook."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any, Final

from tts.dialects.released.imported_texts import ImportedTexts
from tts.dialects.released.importing.python_texts import assigned_text, function, parse_file, registered_tools, text_of
from tts.dialects.released.importing.tool_files import tools_listed
from tts.dialects.released.thinking_with_map.demo import DEMO_SETS
from tts.errors import ConfigError

_PROMPTS_FILE: Final = "verl/examples/data_preprocess/preprocess_thinking_with_map.py"
_VERIFIER_FILE: Final = "parallel_tts/verifier_test_multi.py"
_TOOL_SETS_FOLDER: Final = "verl/geoagent_scripts/config"
_TOOL_SET_FILES: Final = (
    "geoagent_amap_tool_config.yaml",
    "geoagent_google_tool_config.yaml",
    "geoagent_zoom_search_tool_config.yaml",
)
_NOTEBOOK_FILE: Final = "demo/cookbook_think_with_map.ipynb"
_DEMO_TOOLS_FOLDER: Final = "demo/qwen_agent/tools"
_IMAGE_MARK: Final = "<image>"


def read_texts(checkout: Path) -> dict[str, ImportedTexts]:
    """Texts by released path. Raises ConfigError naming what is not there."""
    return {"verl": _verl_texts(checkout), "demo": _demo_texts(checkout)}


def _verl_texts(checkout: Path) -> ImportedTexts:
    path = checkout / _PROMPTS_FILE
    tree = parse_file(path)
    task = assigned_text(tree, "DEFAULT_USER_CONTENT_PREFIX", path).removeprefix(_IMAGE_MARK)
    return ImportedTexts(
        system=assigned_text(tree, "DEFAULT_SYSTEM_CONTENT", path),
        task=task,
        tools=tuple(_tool_schemas(checkout).values()),
        texts=_verifier_texts(checkout / _VERIFIER_FILE),
    )


def _verifier_texts(path: Path) -> dict[str, str]:
    """The system text, and the question with `{input}` and `{candidates}` for what goes there."""
    make = function(parse_file(path), "make_ensemble_messages", path)
    task = assigned_text(make, "user_text", path)
    task = task.replace("{sample.user_input}", "{input}").replace("{'\\n\\n'.join(refs)}", "{candidates}")
    return {"verifier_system": assigned_text(make, "system", path), "verifier_task": task}


def _tool_schemas(checkout: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name in _TOOL_SET_FILES:
        found |= {
            tool: schema
            for tool, schema in tools_listed(checkout / _TOOL_SETS_FOLDER / name).items()
            if tool not in found
        }
    return found


def _demo_texts(checkout: Path) -> ImportedTexts:
    path = checkout / _NOTEBOOK_FILE
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} is no notebook: {type(error).__name__}") from error
    system = task = ""
    for source in sources:
        try:
            tree = ast.parse(source)
        except SyntaxError:  # magics of a notebook
            continue
        system = system or _keyword_text(tree, "system_message")
        task = task or next(iter(_assignments(tree, "prompt")), "")
    return ImportedTexts(system=system, task=task, tools=_demo_tools(checkout / _DEMO_TOOLS_FOLDER))


def _keyword_text(tree: ast.AST, name: str) -> str:
    found = (node for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == name)
    return next((text for node in found if (text := text_of(node.value)) is not None), "")


def _assignments(tree: ast.AST, name: str) -> list[str]:
    try:
        return [assigned_text(tree, name, Path(_NOTEBOOK_FILE))]
    except ConfigError:
        return []


def _demo_tools(folder: Path) -> tuple[dict[str, Any], ...]:
    """In the order of the notebook, then the ones it leaves out."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not there: is it the authors' repository?")
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.py")):
        found |= {schema["name"]: schema for schema in registered_tools(parse_file(path))}
    names = dict.fromkeys(tool.name for tools in DEMO_SETS.values() for tool in tools)
    return tuple(found[name] for name in names if name in found)
