"""The files of the image agree with the project: what is copied is there, what is installed is what is locked."""

import json
import re
import shlex
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from deployments.cli.serve import command as serve
from deployments.config import AppArgs

ROOT = Path(__file__).parents[3]
IMAGE = ROOT / "image"


def instructions():
    """The Dockerfile as (instruction, arguments); lines that go on are joined."""
    text = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text())
    lines = (line.strip() for line in text.splitlines())
    return [tuple(line.split(None, 1)) for line in lines if line and not line.startswith("#")]


def arguments_of(name):
    return [arguments for instruction, arguments in instructions() if instruction == name]


def pins(path):
    return {
        canonicalize_name(name): version
        for name, version in re.findall(r"^([\w.-]+)==([^ ;\\]+)", path.read_text(), re.MULTILINE)
    }


def sent_to_the_builder(path):
    """Whether .dockerignore lets it through: the last line that fits decides."""
    goes = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.removeprefix("!")
        if line and not line.startswith("#") and (fnmatch(path, pattern) or path.startswith(f"{pattern}/")):
            goes = line.startswith("!")
    return goes


def test_files_that_the_image_copies_exist_and_are_not_ignored_by_docker():
    copied = [source for line in arguments_of("COPY") if "--from" not in line for source in line.split()[:-1]]
    files = [path for source in copied for engine in ("cpu", "cuda") for path in [source.replace("${ENGINE}", engine)]]
    assert all((ROOT / path).exists() for path in files)
    assert all(sent_to_the_builder(path) for path in files if path != ".")
    assert all(
        sent_to_the_builder(path) for path in ("tts/pipeline.py", "pyproject.toml", "geotts_client/pyproject.toml")
    )
    assert not any(
        sent_to_the_builder(path) for path in ("tests/conftest.py", ".git/HEAD", "geotts.keys", "metrics.key")
    )


def test_the_image_runs_as_an_unprivileged_user_with_a_health_check():
    assert arguments_of("USER") == ["10001"]
    (check,) = arguments_of("HEALTHCHECK")
    assert json.loads(check[check.index("[") :])[-1] == f"http://127.0.0.1:{AppArgs().gateway.port}/healthz"
    assert arguments_of("EXPOSE") == [str(AppArgs().gateway.port)]


def test_the_image_starts_the_service_with_valid_options():
    assert arguments_of("ENTRYPOINT") == ['["geotts"]']
    name, *options = json.loads(arguments_of("CMD")[0])
    assert name == "serve"
    context = serve.make_context("serve", options)
    assert context.params["host"] == "0.0.0.0"
    assert context.params["args"].gateway.access.mode == "keys"


def test_each_run_step_is_a_shell_command_that_can_be_read():
    assert all(shlex.split(step) for step in arguments_of("RUN"))


@pytest.mark.parametrize("engine", ["cpu", "cuda"])
def test_the_image_has_what_the_project_needs_and_no_tools_of_its_tests(engine):
    locked = pins(IMAGE / f"{engine}.lock")
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    needed = {canonicalize_name(Requirement(one).name) for one in declared} - {"geotts-client"}
    assert needed | {"redis", "setuptools"} <= set(locked)
    assert ("vllm" in locked) == (engine == "cuda")
    assert not {"pytest", "mypy", "ruff", "hypothesis"} & set(locked)


def test_the_image_for_processors_has_the_versions_that_are_tested():
    tested, locked = pins(ROOT / "requirements.lock"), pins(IMAGE / "cpu.lock")
    assert {name: version for name, version in locked.items() if tested.get(name) != version} == {}
