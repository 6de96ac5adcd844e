"""Ray imports from the folder in which a service is started: what stands there must not replace the service."""

import os
import sys
from pathlib import Path

import pytest
from support.geotts_process import run_geotts

import tts
from deployments.serve.foreign_packages import refuse_foreign_packages
from tts.errors import ConfigError


@pytest.mark.parametrize("name", ["tools/__init__.py", "tts/__init__.py", "deployments.py"])
def test_a_start_folder_with_a_package_named_like_ours_is_refused(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    with pytest.raises(ConfigError, match="start in another folder"):
        refuse_foreign_packages(tmp_path)


def test_a_folder_without_packages_and_the_checkout_itself_are_not_refused(tmp_path):
    (tmp_path / "tools").mkdir()
    refuse_foreign_packages(tmp_path)
    refuse_foreign_packages(Path(tts.__file__).parents[1])


@pytest.mark.slow
async def test_geotts_serve_reports_a_foreign_package_and_ends_with_2(tmp_path, data_store):
    (tmp_path / "tts").mkdir()
    (tmp_path / "tts" / "__init__.py").touch()
    program = Path(sys.executable).with_name("geotts")
    code, _, printed = await run_geotts(program, os.environ, tmp_path, "serve", "--port", "8765", limit_s=60)
    assert code == 2
    assert "would be imported by Ray" in printed
