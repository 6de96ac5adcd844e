"""Where the blocks of the documentation are run, and which of them stand in which test file.

Documents that ask a service are run while one serves; documents that start services, and configurations that are
deployed, have test files of their own, so that they run beside each other.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.docs_blocks import ROOT, blocks_of, documents
from support.docs_runner import SERVICE, Place, Reader, serves
from support.namespaces import machines, missing_requirement

_BLOCKS = [block for path in documents() for block in blocks_of(path) if not block.shown_only]
_SHELL_BLOCKS = [block for block in _BLOCKS if block.language in ("bash", "console")]
_SERVING_FILES = {block.file for block in _SHELL_BLOCKS if block.beside or any(map(serves, block.commands()))}
_ASKING_FILES = {
    block.file for block in _BLOCKS if block.language == "json" or SERVICE in block.text or block.file.endswith(".py")
} - _SERVING_FILES
CONFIGURATIONS = [block for block in _BLOCKS if block.language == "yaml"]
_COMMANDS = sorted((block for block in _BLOCKS if block.language != "yaml"), key=lambda block: (block.file, block.line))
# what serves while documents ask is itself a command of the documentation
(SERVING,) = [block for block in _COMMANDS if block.text == "geotts serve --config ray_configs/local.yaml"]
ASKING = [block for block in _COMMANDS if block.file in _ASKING_FILES]
OTHERS = [block for block in _COMMANDS if block.file not in _ASKING_FILES and block is not SERVING]


class Here:
    """This machine, where namespaces cannot be made."""

    def start(self, *command: str | Path, **options: Any) -> subprocess.Popen[Any]:
        return subprocess.Popen(list(map(str, command)), **self._with_env(options))

    def run(self, *command: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
        how = {"capture_output": True, "text": True, "timeout": 120, **self._with_env(options)}
        return subprocess.run(list(map(str, command)), check=False, **how)

    def _with_env(self, options: dict[str, Any]) -> dict[str, Any]:
        """With the token of Ray that the tests have, and with a home folder."""
        return {**options, "env": {**os.environ, **options.get("env", {})}}


@contextmanager
def a_place(folder: Path) -> Iterator[Place]:
    """A machine of its own for the ports that the documentation names; this one where that cannot be."""
    if missing_requirement():
        yield Here()
        return
    token = folder / "token"
    token.write_text("a-token-of-the-tests-and-of-nobody-else")
    with machines(1, environment={"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}) as (machine,):
        yield machine


def a_reader(place: Place, folder: Path) -> Reader:
    """Someone who reads the documentation there."""
    return Reader(place, folder, ROOT / "tests" / "fixtures" / "docs")


@contextmanager
def reading(folders: pytest.TempPathFactory) -> Iterator[Reader]:
    """Someone who reads the documentation at a machine of their own."""
    with a_place(folders.mktemp("ray")) as place:
        yield a_reader(place, folders.mktemp("docs"))
