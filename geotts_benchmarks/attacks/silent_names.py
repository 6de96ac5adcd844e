"""Names under `.silent.invalid` that no nameserver answers, in every process that is started inside the block.

Stands for a nameserver that keeps silent: the lookup holds its thread as long as the system's would. Each is counted.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Self

_SILENT_NAMES = """
import os, socket, time
_real_getaddrinfo = socket.getaddrinfo
_asked_file = os.path.join(os.path.dirname(__file__), "asked")
def getaddrinfo(host, *args, **kwargs):
    if str(host).endswith(".silent.invalid"):
        with open(_asked_file, "a") as asked:
            asked.write(str(host) + "\\n")
        time.sleep(20)
        raise socket.gaierror("no answer")
    return _real_getaddrinfo(host, *args, **kwargs)
socket.getaddrinfo = getaddrinfo
"""


class SilentNames:
    """The processes have to be Python, and of an environment without a `sitecustomize` of its own."""

    def __enter__(self) -> Self:
        self._python_path_before = os.environ.get("PYTHONPATH", "")
        self._folder = tempfile.TemporaryDirectory()
        (Path(self._folder.name) / "sitecustomize.py").write_text(_SILENT_NAMES)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [self._folder.name, self._python_path_before]))
        return self

    def __exit__(self, *_: object) -> None:
        os.environ["PYTHONPATH"] = self._python_path_before
        self._folder.cleanup()

    def lookup_count(self) -> int:
        """How many of the names were looked up."""
        asked = Path(self._folder.name) / "asked"
        return len(set(asked.read_text().splitlines())) if asked.exists() else 0
