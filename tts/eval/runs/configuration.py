"""Names what decides the answers of a recorded run, so that no file mixes two configurations.

The contents of files count, not their names: a prompt that was edited in place is another prompt.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import orjson
from pydantic import JsonValue

from tts.config import PipelineConfig
from tts.errors import DataError
from tts.verify.consensus.installed_calibrations import installed_file

_HASHED_KEYS = {
    "engine", "observer", "dialect", "dialect_settings", "limits", "routing", "tools", "verifier",
}  # fmt: skip
_PARTS_WITH_FILES = ("engine", "observer", "dialect_settings", "routing", "verifier")
_MODEL_FILES = ("chat_template.jinja", "chat_template.json", "tokenizer_config.json")  # how it is spoken to


def config_digest(args: PipelineConfig, url: str | None, *, with_installed: bool = True) -> str:
    """16 hexadecimal digits for engine, dialect, limits, routing, tools and verifier with the files they name (prompts,
    tool schemas, chat templates, calibrations, a gallery, a replayed tape) and an installed calibration (if
    `with_installed`); or for the server that is asked.

    Raises DataError when one of the files cannot be read.
    """
    if url is not None:
        return hashlib.sha256(url.encode()).hexdigest()[:16]
    more = set() if args.gallery is None else {"gallery"}
    tree = args.model_dump(mode="json", include=_HASHED_KEYS | more)
    own = [path for path in (_installed_calibration(args),) if path is not None] if with_installed else []
    files = {str(path): _content_hash(path) for path in sorted({*_files(args, tree), *own})}
    return hashlib.sha256(orjson.dumps([tree, files], option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def _files(args: PipelineConfig, tree: dict[str, JsonValue]) -> Iterator[Path]:
    """Files that the configuration names, and those beside the weights of a model that say how to speak to it."""
    for part in (*_PARTS_WITH_FILES, "gallery"):
        for text in _texts(tree.get(part)):
            path = Path(text).expanduser()
            if path.is_file():
                yield path
            elif path.is_dir():
                yield from (found for name in _MODEL_FILES if (found := path / name).is_file())
    tape = args.tools.tape
    if tape is not None and tape.mode == "replay" and Path(tape.path).is_file():
        yield Path(tape.path)


def _installed_calibration(args: PipelineConfig) -> Path | None:
    return installed_file(args) if args.verifier.calibration is None else None


def _texts(node: JsonValue) -> Iterator[str]:
    if isinstance(node, str):
        yield from (node,) if node and len(node) < 4096 and "\0" not in node else ()
    elif isinstance(node, dict):
        for below in node.values():
            yield from _texts(below)
    elif isinstance(node, list):
        for below in node:
            yield from _texts(below)


def _content_hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error}") from error
