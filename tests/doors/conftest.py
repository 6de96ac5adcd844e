"""The command that users get when they install the wheel: nothing of the checkout is behind it."""

from functools import partial

import pytest
from support.geotts_process import run_geotts
from support.wheels import Environment, build_client_wheel, build_main_wheel


@pytest.fixture(scope="session")
def installed(tmp_path_factory, data_store):
    """A fresh environment with the project's wheels and what they declare to need."""
    folder = tmp_path_factory.mktemp("installed")
    return Environment(folder / "env", build_main_wheel(folder), build_client_wheel(folder))


@pytest.fixture
def geotts(installed, tmp_path):
    """`geotts` of that environment, run in an empty folder without configuration: (exit code, stdout, stderr)."""
    return partial(run_geotts, installed.bin / "geotts", installed.variables(), tmp_path)
