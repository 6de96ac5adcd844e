"""GeoVista: the texts of its evaluation. The system text describes the tools itself."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tts.dialects.released.imported_texts import ImportedTexts
from tts.dialects.released.importing.python_texts import assigned_text, dictionaries, function, parse_file, text_of
from tts.errors import ConfigError

_LOOP_FILE: Final = "eval/inference_agent_tool_mode.py"


def read_texts(checkout: Path) -> dict[str, ImportedTexts]:
    """Texts by released path. Raises ConfigError naming what is not there."""
    path = checkout / _LOOP_FILE
    tree = parse_file(path)
    loop = function(tree, "run_inference_for_image", path)
    found_texts = [text_of(found["text"]) for found in dictionaries(loop) if "text" in found]
    fixed = list(dict.fromkeys(text for text in found_texts if text and "{" not in text))
    if len(fixed) != 3:
        raise ConfigError(f"{path} has {len(fixed)} texts of the loop, not the question and two more")
    task, answer_demand, search_hint = fixed
    texts = {"answer_demand": answer_demand, "search_hint": search_hint}
    return {"eval": ImportedTexts(system=assigned_text(tree, "SYSTEM_PROMPT", path), task=task, texts=texts)}
