"""Both wheels of the project, and environments that have nothing but a wheel and what it requires."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("tts", "tools", "deployments", "ray_configs")
_MAIN = (*PACKAGES, "pyproject.toml", "README.md", "LICENSE", "NOTICE")
_NO_CACHES = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist")
_SITE_PACKAGES = "lib/python{}.{}/site-packages".format(*sys.version_info)


def build_main_wheel(folder: Path) -> Path:
    """The wheel of `geotts`, built from a copy of the sources because the build writes beside them."""
    sources = folder / "main"
    for name in _MAIN:
        _copy(ROOT / name, sources / name)
    return _build(sources, folder / "dist-main")


def build_client_wheel(folder: Path) -> Path:
    """The wheel of `geotts-client`."""
    _copy(ROOT / "geotts_client", folder / "client")
    return _build(folder / "client", folder / "dist-client")


class Environment:
    """A virtual environment in which only given wheels are installed. Nothing of the checkout is on its path."""

    def __init__(self, folder: Path, *wheels: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        self.bin = folder / "bin"
        self.site_packages = folder / _SITE_PACKAGES
        _pip(
            "--python", self.bin / "python", "install", "--no-deps", "--no-index", "--ignore-installed", *wheels
        )  # before other paths are added: pip must not find, and remove, the project of the checkout there

    def add_third_party_packages(self) -> None:
        """Whatever is installed here for the tests. Packages of the project still come from the wheels."""
        folders = [path for path in sys.path if path.endswith("-packages")]
        (self.site_packages / "third_party.pth").write_text("\n".join(folders))

    def add(self, *names: str) -> None:
        """Installed distributions, and what they require in turn; no others."""
        for name in _with_requirements(names):
            files = distribution(name).files or ()
            for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
                if not (self.site_packages / top).exists():
                    (self.site_packages / top).symlink_to(str(distribution(name).locate_file(top)))

    def run(self, *command: str | Path, cwd: Path, **how: object) -> subprocess.CompletedProcess[str]:
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


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=_NO_CACHES)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def _build(sources: Path, into: Path) -> Path:
    _pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", into, sources)
    (wheel,) = into.glob("*.whl")
    return wheel


def _pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _with_requirements(names: tuple[str, ...]) -> set[str]:
    """The distributions and all that they need. Extras are not followed."""
    found = set(names)
    waiting = list(names)
    while waiting:
        for requirement in distribution(waiting.pop()).requires or ():
            required = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
            if required not in found and not re.search(r";.*(extra|python_version|platform)", requirement):
                found.add(required)
                waiting.append(required)
    return found
