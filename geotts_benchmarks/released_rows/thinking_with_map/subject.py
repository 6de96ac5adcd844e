"""The dialect and the tools that serve a row, with the corpus' texts as the user's imported ones."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from geotts_benchmarks.released_rows.corpus import Corpus
from tts.dialects import DIALECTS
from tts.dialects.base import Dialect
from tts.dialects.released.imported_texts import ImportedTexts
from tts.dialects.released.thinking_with_map.demo import DEMO_SETS, DEMO_SYSTEM
from tts.dialects.released.thinking_with_map.tool_sets import SYSTEM, TOOL_SETS
from tts.dialects.settings import DialectSettings, read_schemas
from tts.ports.toolbox import ToolSchema
from tts.verify.verifiers.published_verifier import CANDIDATES

_IMAGE_MARK: Final = "<image>"
PHOTO: Final = {"verl": (1008, 756), "demo": (1000, 750)}
"""Size of the photo of the rows of each path, as their notes say."""


def set_of(tool: str, path: str) -> str:
    """The set a run must have for a tool: the first that lists it; AMap's for tools that none lists."""
    names = {name: [served.name for served in tools] for name, tools in _tool_sets(path).items()}
    return next((name for name, listed in names.items() if tool in listed), "amap")


def dialect_for(path: str, tool_set: str, corpus: Corpus) -> Dialect:
    """The dialect as released on a path (`verl` or `demo`) with one of its tool sets."""
    settings = {"behaviour": "released", "released_path": path, "tool_set": tool_set}
    return DIALECTS[SYSTEM].with_settings(DialectSettings.model_validate(settings | _write_texts(corpus.folder, path)))


def texts_for(path: str, corpus: Corpus) -> dict[str, str]:
    """The dialect's settings that name the corpus' texts, as a user's import does."""
    return _write_texts(corpus.folder, path)


def schemas_for(path: str, corpus: Corpus) -> tuple[ToolSchema, ...]:
    """Schemas of the corpus' tools on a path; empty where the corpus has no texts."""
    file = _write_texts(corpus.folder, path).get("tool_schema_file")
    return read_schemas(Path(file)) if file else ()


def system_for(path: str) -> str:
    """The system name of a path's released tools."""
    return DEMO_SYSTEM if path == "demo" else SYSTEM


def _tool_sets(path: str) -> Mapping[str, Sequence[Any]]:
    return DEMO_SETS if path == "demo" else TOOL_SETS


@lru_cache(maxsize=8)
def _write_texts(folder: Path, path: str) -> dict[str, str]:
    """Dialect settings for the texts of a corpus, written to a folder that lives as long as this process."""
    texts = Corpus(folder).texts(SYSTEM)
    if not texts:
        return {}
    target = Path(_texts_folder().name) / hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16] / path
    return (_demo_texts(texts["demo"]) if path == "demo" else _verl_texts(texts)).write(target)


@lru_cache(maxsize=1)
def _texts_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="geotts-conformance-")


def _verl_texts(found: Mapping[str, Any]) -> ImportedTexts:
    texts, verifier = found["single_run"], found.get("verifier")
    sets = (texts["tools_amap"], texts["tools_google"], texts["tools_zoom_and_search"])
    tools = {schema["function"]["name"]: schema["function"] for listed in sets for schema in listed["schemas"]}
    task = texts["user"]["text"].removeprefix(_IMAGE_MARK)
    others = _verifier_texts(verifier) if verifier else {}
    return ImportedTexts(system=texts["system"]["text"], task=task, tools=tuple(tools.values()), texts=others)


def _verifier_texts(texts: Mapping[str, Any]) -> dict[str, str]:
    task = texts["user_template"].replace("{candidates joined by one blank line}", CANDIDATES)
    return {"verifier_system": texts["system"]["text"], "verifier_task": task}


def _demo_texts(texts: Mapping[str, Any]) -> ImportedTexts:
    return ImportedTexts(
        system=texts["system"]["text"], task=texts["user"]["text"], tools=tuple(texts["tools"]["schemas"])
    )
