"""Service, client and changelog state one version."""

import re
import tomllib
from importlib.metadata import version

import pytest
from support.docs_blocks import ROOT


def stated_by(project):
    return tomllib.loads((ROOT / project / "pyproject.toml").read_text())["project"]


VERSION = stated_by(".")["version"]


def test_the_client_has_the_version_of_the_service():
    assert stated_by("geotts_client")["version"] == VERSION


def test_the_service_requires_the_client_of_its_own_version():
    pins = [one for one in stated_by(".")["dependencies"] if one.startswith("geotts-client")]
    assert pins == [f"geotts-client=={VERSION}"]


def test_the_changelog_begins_with_this_version():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert re.fullmatch(rf"\[{re.escape(VERSION)}\] - (unreleased|\d{{4}}-\d\d-\d\d)", headings[0])


@pytest.mark.parametrize("name", ["geotts", "geotts-client"])
def test_the_installed_distributions_have_this_version(name):
    assert version(name) == VERSION
