"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import click

from deployments.cli.console import F
from tts.domain.plan import Depth

EXISTING_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)

depth = click.option("--depth", type=click.Choice([d.value for d in Depth]), default="auto", show_default=True,
                     help="How much to spend on a photo. auto: as much as the photo needs.")  # fmt: skip
seed = click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), help="With the stop policy none, the same seed gives the same answer."
)
diverse_first_calls = click.option(
    "--diverse-first-calls/--no-diverse-first-calls",
    default=None,
    help="Whether attempts begin with different tool calls (docs/routing.md). Default: what the configuration says.",
)
deadline = click.option(
    "--deadline",
    "deadline_s",
    type=click.FloatRange(0.1, 3600),
    help="Time limit in seconds. When it ends, you get the best answer so far.",
)
as_json = click.option("--json", "form", flag_value="json", help="Print one JSON object for each photo on stdout.")
as_geojson = click.option(
    "--geojson", "form", flag_value="geojson", help="Print one GeoJSON FeatureCollection for each photo on stdout."
)
hide_photo_hosts = click.option(
    "--hide-photo-hosts",
    is_flag=True,
    help="Hide search results from photo sites, because their pages state where photos were taken.",
)
concurrency = click.option(
    "--concurrency", type=click.IntRange(1, 256), default=2, show_default=True, help="Photos at the same time."
)
include = click.option(
    "--include",
    type=click.Choice(["none", "summary", "full"]),
    default="summary",
    show_default=True,
    help="How much of the records of the attempts (trajectories) --json contains.",
)
local = click.option(
    "--local", is_flag=True, help="Run in this process, also if GEOTTS_URL is set. The default without --url."
)
url = click.option("--url", envvar="GEOTTS_URL", help="Send the photos to this service. You can also set GEOTTS_URL.")
api_key = click.option(
    "--api-key", envvar="GEOTTS_API_KEY", help="Key for the service. Better set GEOTTS_API_KEY: others can see options."
)


def table(name: str, read: Callable[[Path], Mapping[Any, Any]], text: str) -> Callable[[F], F]:
    """An option that names a file: the command gets what `read` makes of it, or None."""
    return click.option(
        name, type=EXISTING_FILE, callback=lambda _, __, path: None if path is None else read(path), help=text
    )
