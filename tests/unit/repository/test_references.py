"""Files that the documentation and the docstrings name are there."""

import re
import subprocess

import pytest
from support.docs_blocks import ROOT

_NAMED = re.compile(
    r"`((?:tts|tools|deployments|geotts_benchmarks|geotts_client|tests|scripts|ray_configs|examples|docs)"
    r"/[\w./-]+\.(?:py|md|toml|json))`"
)


def texts():
    listed = subprocess.run(["git", "ls-files", "*.py", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.split()


@pytest.mark.parametrize("folder", ["docs", "tts", "tools", "deployments", "geotts_benchmarks", "geotts_client", "."])
def test_every_file_that_is_named_exists(folder):
    files = [path for path in texts() if path.startswith(f"{folder}/") or (folder == "." and "/" not in path)]
    named = {(path, name) for path in files for name in _NAMED.findall((ROOT / path).read_text("utf-8"))}
    assert sorted((path, name) for path, name in named if not (ROOT / name).exists()) == []


def test_the_search_finds_file_names_in_a_sentence():
    assert _NAMED.findall("see `tts/nowhere.py` and `docs/gone.md`") == ["tts/nowhere.py", "docs/gone.md"]
