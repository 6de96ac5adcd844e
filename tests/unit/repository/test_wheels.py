"""Both wheels hold what their packages need, and the client runs with nothing but httpx and pydantic."""

import zipfile
from pathlib import Path

import pytest
from support.wheels import PACKAGES, ROOT, Environment, build_client_wheel, build_main_wheel

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("wheels")


@pytest.fixture(scope="module")
def client_wheel(folder):
    return build_client_wheel(folder)


def files_in(wheel):
    return set(zipfile.ZipFile(wheel).namelist())


def files_of(package):
    found = (path for path in (ROOT / package).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(ROOT)) for path in found}


def test_the_main_wheel_holds_every_file_of_its_packages(folder):
    held = files_in(build_main_wheel(folder))
    wanted = set().union(*map(files_of, PACKAGES))
    assert "ray_configs/profiles/generic.yaml" in wanted
    assert "tts/data/samples/town-sign-latin.jpg" in wanted
    assert wanted - held == set()
    assert not {name for name in held if name.startswith(("tests/", "geotts_client/", "examples/"))}


def test_the_client_wheel_holds_its_modules_and_its_types(client_wheel):
    wanted = {name for name in files_of("geotts_client") if Path(name).suffix in (".py", ".typed")}
    assert "geotts_client/py.typed" in wanted
    assert wanted - files_in(client_wheel) == set()


def test_the_client_needs_httpx_and_pydantic_only(client_wheel, tmp_path):
    environment = Environment(tmp_path / "env", client_wheel)
    done = environment.run("python", "-c", "import geotts_client; print(geotts_client.__file__)", cwd=tmp_path)
    assert done.stderr == ""
    assert Path(done.stdout.strip()).is_relative_to(environment.site_packages)
    assert {"httpx", "pydantic"} < environment.installed_names()
    assert not {"geotts", "numpy", "pytest", "ray"} & environment.installed_names()
