"""Both wheels of the project, and environments that have nothing but a wheel and what it requires."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PACKAGES = ("tts", "tools", "deployments", "geotts_benchmarks", "ray_configs")
_MAIN_FILES = (*PACKAGES, "pyproject.toml", "README.md", "LICENSE", "NOTICE")
_NO_CACHES = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist")
_SITE_PACKAGES = "lib/python{}.{}/site-packages".format(*sys.version_info)


def build_main_wheel(folder: Path) -> Path:
    """The wheel of `geotts`, built from a copy of the sources because the build writes beside them."""
    sources = folder / "main"
    for name in _MAIN_FILES:
        _copy(ROOT / name, sources / name)
    return _build_wheel(sources, folder / "dist-main")


def build_client_wheel(folder: Path) -> Path:
    """The wheel of `geotts-client`."""
    _copy(ROOT / "geotts_client", folder / "client")
    return _build_wheel(folder / "client", folder / "dist-client")


class Environment:
    """A virtual environment with given wheels and what they declare to require, as it is installed here, linked file by
    file or by whole folders. Nothing of the checkout is on its path.
    """

    def __init__(self, folder: Path, *wheels: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        self.bin = folder / "bin"
        self.site_packages = folder / _SITE_PACKAGES
        _run_pip(
            "--python", self.bin / "python", "install", "--no-deps", "--no-index", "--ignore-installed", *wheels
        )  # before anything else is there: pip must not find, and remove, the project of the checkout
        self._add_required()

    def _add_required(self) -> None:
        """What the wheels say they require, and what that requires in turn; nothing else that is installed here."""
        owners: dict[str, set[str]] = {}
        for installed in distributions():
            for top in _top_level_names(installed):
                owners.setdefault(top, set()).add(_canonical_name(installed))
        for found in required_by([*distributions(path=[str(self.site_packages)])]):
            shared = {top for top in _top_level_names(found) if len(owners[top]) > 1}
            for top in _top_level_names(found) - shared:
                (self.site_packages / top).symlink_to(str(found.locate_file(top)))
            for file in (file for file in found.files or () if file.parts[0] in shared):
                link = self.site_packages / file
                link.parent.mkdir(parents=True, exist_ok=True)
                if not link.exists():  # some bring the same `__init__.py` of a namespace
                    link.symlink_to(str(found.locate_file(file)))

    def installed_names(self) -> set[str]:
        """The names of the distributions in it."""
        return {_canonical_name(one) for one in distributions(path=[str(self.site_packages)])}

    def run(self, *command: str | Path, cwd: Path, **how: Any) -> subprocess.CompletedProcess[str]:
        """Run a command of the environment (`geotts`, `python`) and wait for it."""
        name, *arguments = command
        return subprocess.run(
            [self.bin / name, *arguments],
            cwd=cwd, env=self.variables(), capture_output=True, text=True, timeout=200, check=False, **how,
        )  # fmt: skip

    def variables(self) -> dict[str, str]:
        """The variables of this process without those that lead to the checkout."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        return {**kept, "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}"}


def install_beside(package: Path, folder: Path) -> None:
    """Install a package without what it requires into `folder/site`, which is to be put on the path."""
    _copy(package, folder / "sources")  # the build writes beside them
    _run_pip(
        "install", "--no-deps", "--no-build-isolation", "--no-index", "--target", folder / "site", folder / "sources"
    )  # fmt: skip


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=_NO_CACHES)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def _build_wheel(sources: Path, into: Path) -> Path:
    _run_pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", into, sources)
    (wheel,) = into.glob("*.whl")
    return wheel


def _run_pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def required_by(wheels: Sequence[Distribution]) -> list[Distribution]:
    """The installed distributions that these declare, extras that they ask for included, and theirs in turn.

    Raises AssertionError with what is declared and not installed here.
    """
    own, found, missing = {_canonical_name(wheel) for wheel in wheels}, dict[str, Distribution](), set[str]()
    waiting = [(wheel, "") for wheel in wheels]
    followed = set[tuple[str, str]]()
    while waiting:
        one, extra = waiting.pop()
        for wanted in map(Requirement, one.requires or ()):
            name = canonicalize_name(wanted.name)
            if name in own or (wanted.marker and not wanted.marker.evaluate({"extra": extra})):
                continue
            try:
                found[name] = distribution(name)
            except PackageNotFoundError:
                missing.add(f"{wanted}, of {_canonical_name(one)}")
                continue
            new = {(name, asked) for asked in ("", *wanted.extras)} - followed
            followed |= new
            waiting += [(found[name], asked) for _, asked in new]
    assert not missing, missing
    return list(found.values())


def _canonical_name(found: Distribution) -> str:
    return canonicalize_name(found.metadata["Name"])


def _top_level_names(found: Distribution) -> set[str]:
    """The folders and files beside each other in which a distribution lies; scripts are elsewhere."""
    return {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}
