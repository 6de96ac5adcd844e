"""Every package that the code imports is declared in a pyproject file, so that an installed wheel is whole."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
OWN = {"tts", "tools", "deployments", "geotts_client", "ray_configs"}


def declared_packages(pyproject):
    project = tomllib.loads(pyproject.read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(line for extra in project.get("optional-dependencies", {}).values() for line in extra),
    ]
    return {re.split(r"[\[<>=!~ ]", line)[0].replace("_", "-").lower() for line in wanted}


def imported_packages(*packages):
    """Names of modules that are not the project's own and not Python's, with a file that imports each."""
    found: dict[str, str] = {}
    for path in (file for package in packages for file in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for top in {name.split(".")[0] for name in names} - OWN - set(sys.stdlib_module_names):
                found.setdefault(top, str(path.relative_to(ROOT)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pyproject", "packages"),
    [
        ("pyproject.toml", ("tts", "tools", "deployments", "ray_configs")),
        ("geotts_client/pyproject.toml", ("geotts_client",)),
    ],
)
def test_every_imported_package_is_declared(pyproject, packages):
    known, distributions = declared_packages(ROOT / pyproject), packages_distributions()
    missing = {
        module: file
        for module, file in imported_packages(*packages).items()
        if not {name.replace("_", "-").lower() for name in distributions.get(module, [module])} & known
    }
    assert missing == {}
