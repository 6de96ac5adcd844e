"""A reader finds a module by the name of its file (ADR 0054)."""

import re
import subprocess
from collections import defaultdict
from pathlib import Path

from support.docs_blocks import ROOT

_PACKAGES = ("tts", "tools", "deployments", "geotts_benchmarks", "geotts_client")
# Each file here is named after a command, a route, a part of the configuration or a file of the corpus.
_NAMED_AFTER = re.compile(
    r"deployments/(cli|http/routes)/[^/]+|(tts|deployments)/config/[^/]+|geotts_benchmarks/released_rows/.+"
)
_ONE_IN_EACH_FOLDER = {"__init__.py", "engine.py", "zoom.py"}  # of each engine, of each published system
_MOST = 2


def is_re_export(path):
    """`tts/domain` and `tts/api` give the values of `geotts_client` under the same names."""
    return (ROOT / path).read_text("utf-8").startswith('"""See `geotts_client.')


def is_benchmark(path):
    """The file of `geotts bench NAME` is `NAME.py`."""
    return path.startswith("geotts_benchmarks/") and "\ndef command(" in (ROOT / path).read_text("utf-8")


def may_repeat(path):
    return (
        Path(path).name in _ONE_IN_EACH_FOLDER
        or _NAMED_AFTER.fullmatch(path) is not None
        or is_re_export(path)
        or is_benchmark(path)
    )


def repeated_names(paths):
    """Names that more than two files have."""
    found = defaultdict(list)
    for path in paths:
        if not may_repeat(path):
            found[Path(path).name].append(path)
    return {name: files for name, files in found.items() if len(files) > _MOST}


def test_no_name_stands_for_three_different_modules():
    listed = subprocess.run(
        ["git", "ls-files", *(f"{package}/*.py" for package in _PACKAGES)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [path for path in listed.stdout.split() if (ROOT / path).exists()]
    assert len(paths) > 500
    assert repeated_names(paths) == {}


def test_a_name_in_three_folders_is_found():
    files = ["tts/clues/belief.py", "tts/geodata/datum.py", "tts/pipeline.py"]
    same = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("tts/inference/*/engine.py"))]
    assert len(same) > _MOST
    assert repeated_names(files + same) == {}
    assert list(repeated_names([*files, "tts/clues/belief.py", "tts/clues/belief.py"])) == ["belief.py"]
