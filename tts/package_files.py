"""Files that ship with the project and that a user names or opens: configurations, profiles, sample photos.

They are package data, found the same way in a checkout and in an installed wheel.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

CONFIGS = Path(str(files("ray_configs")))
PROFILES = CONFIGS / "profiles"
SAMPLES = Path(str(files("tts"))) / "data" / "samples"


def config_files() -> dict[str, Path]:
    """The shipped Serve configurations by name, e.g. `local`."""
    return {path.stem: path for path in sorted(CONFIGS.glob("*.yaml"))}


def operations_files() -> dict[str, Path]:
    """What else a cluster or a monitoring needs, by name: manifests of Kubernetes, alerts, the dashboard of Grafana."""
    files = [path for folder in ("kubernetes", "monitoring") for path in sorted((CONFIGS / folder).glob("*.yaml"))]
    return {**{f"{path.parent.name}/{path.stem}": path for path in files}, "grafana": CONFIGS / "grafana.json"}


def profile_files() -> dict[str, Path]:
    """The shipped profiles by name, e.g. `generic`."""
    return {path.stem: path for path in sorted(PROFILES.glob("*.yaml"))}


def sample_photos() -> dict[str, Path]:
    """The sample photos by file name. Their true positions are in `labels.jsonl` beside them."""
    return {path.name: path for path in sorted(SAMPLES.glob("*.jpg"))}
