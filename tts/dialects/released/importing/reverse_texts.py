"""REVERSE: the texts of its evaluation and of its training, and the chat template beside the evaluation."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from tts.dialects.released.imported_texts import ImportedTexts
from tts.dialects.released.importing.checkout import text_of_file
from tts.dialects.released.importing.python_texts import assigned_text, joined_text, literal, parse_file
from tts.dialects.released.importing.tool_files import tools_listed
from tts.errors import ConfigError

_EVAL_FILE: Final = "eval/eval_benchmark.py"
_EVAL_SYSTEM_FILE: Final = "data_pipeline/build_sft_coldstart.py"  # where eval/run_eval_rl_checkpoint.sh takes it from
_TEMPLATE_FILE: Final = "eval/geoloc_tool_chat_template.jinja2"
_EVAL_TOOL_NAMES: Final = ("TOOL_SCHEMA", "TOOL_SCHEMA_SEARCH", "TOOL_SCHEMA_TAVILY")
_RL_FILE: Final = "data_pipeline/build_rl_parquet.py"
_RL_TOOLS_FILE: Final = "script/rl/config/tool_config/geoloc_coldstart_v5.yaml"
_IMAGE_MARK: Final = "<image>"


def read_texts(checkout: Path) -> dict[str, ImportedTexts]:
    """Texts by released path. Raises ConfigError naming what is not there."""
    return {"eval": _eval_texts(checkout), "rl": _rl_texts(checkout)}


def _eval_texts(checkout: Path) -> ImportedTexts:
    path, prompts, template = (checkout / name for name in (_EVAL_FILE, _EVAL_SYSTEM_FILE, _TEMPLATE_FILE))
    tree = parse_file(path)
    return ImportedTexts(
        system=assigned_text(parse_file(prompts), "SYSTEM_PROMPT", prompts),
        task=joined_text(tree, "USER_PROMPT", path),
        tools=tuple(_schema(literal(tree, name, path), path) for name in _EVAL_TOOL_NAMES),
        texts={"nudge": assigned_text(tree, "nudge", path)},
        # without one, the evaluation uses that of the checkpoint
        chat_template=text_of_file(template) if os.path.lexists(template) else "",
    )


def _rl_texts(checkout: Path) -> ImportedTexts:
    path = checkout / _RL_FILE
    tree = parse_file(path)
    return ImportedTexts(
        system=assigned_text(tree, "SYSTEM_PROMPT", path),
        task=assigned_text(tree, "USER_PROMPT", path).removeprefix(_IMAGE_MARK),
        tools=tuple(tools_listed(checkout / _RL_TOOLS_FILE).values()),
    )


def _schema(found: Any, path: Path) -> dict[str, Any]:
    if not isinstance(found, dict) or not isinstance(found.get("function"), dict) or "name" not in found["function"]:
        raise ConfigError(f"{path} has a tool schema that cannot be read: is it the authors' repository?")
    return dict(found["function"])
