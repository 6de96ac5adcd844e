"""Refuses to start Ray in a folder whose own packages would replace those of the service.

A worker of Ray imports from the folder in which the driver was started before it imports what is installed. A folder
`tools/` of somebody's project, or another checkout, would therefore be served instead of this program.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from tts.errors import ConfigError

_PACKAGES = ("deployments", "geotts_client", "ray_configs", "tools", "tts")


def refuse_foreign_packages(folder: Path) -> None:
    """Raises ConfigError when `folder` has a package or module of the same name that is not the one in use here."""
    for name in _PACKAGES:
        spec = find_spec(name)
        for own in (folder / name / "__init__.py", folder / f"{name}.py"):
            if own.is_file() and (spec is None or spec.origin is None or not own.samefile(spec.origin)):
                raise ConfigError(
                    f"{own} would be imported by Ray instead of the package {name!r} of GeoTTS: "
                    "start in another folder, or rename it"
                )
