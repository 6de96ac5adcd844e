"""`geotts check`."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from deployments.cli.built_data import ensure_data
from deployments.cli.console import config_option, profile_options
from deployments.cli.inputs import collect
from deployments.cli.locate import locate_inputs
from geotts_client.check_options import MAX_CLAIMED
from tts.config import AppArgs
from tts.domain.claim import CheckOptions
from tts.domain.plan import Depth
from tts.domain.request import MAX_PARALLEL
from tts.geodata.area_from_text import WAYS


@click.command()
@click.argument("photos", nargs=-1, required=True, metavar="PHOTO…")
@click.option(
    "--claim",
    "claims",
    multiple=True,
    required=True,
    help=f"The claimed place: the name of a town, region or country, or {WAYS}. Repeat the option to compare places.",
)
@click.option(
    "-n",
    "--n-parallel",
    type=click.IntRange(1, MAX_PARALLEL),
    help="Number of blind rollouts, which do not get the claim.",
)
@click.option("--depth", type=click.Choice([d.value for d in Depth]), default="auto", show_default=True)
@click.option("--json", "form", flag_value="json", help="Print one JSON object for each photo on stdout.")
@click.option(
    "--geojson", "form", flag_value="geojson", help="Print one GeoJSON FeatureCollection for each photo on stdout."
)
@click.option("--local", is_flag=True, help="Run in this process (the default without --url).")
@click.option("--url", envvar="GEOTTS_URL", help="Ask this service instead; GEOTTS_URL does the same.")
@click.option(
    "--api-key", envvar="GEOTTS_API_KEY", help="Key for --url. Set GEOTTS_API_KEY instead to hide it from other users."
)
@click.option(
    "--deadline",
    "deadline_s",
    type=click.FloatRange(0.1, 3600),
    help="Time limit in seconds; then you get the best answer so far.",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Seed; the same seed repeats an answer.")
@click.option(
    "--include",
    type=click.Choice(["none", "summary", "full"]),
    default="summary",
    show_default=True,
    help="How much of the trajectories --json contains.",
)
@config_option
@profile_options
def command(
    photos: tuple[str, ...], claims: tuple[str, ...], args: AppArgs, form: str | None, local: bool, url: str | None,
    api_key: str | None, **fields: Any,
) -> int:  # fmt: skip
    """Check whether PHOTOS were taken at the place of --claim.

    The verdict is supported, contradicted or not decidable. The exit code is 0 when every photo was checked, with any
    verdict; 1 when some failed, 2 when a claim names no place.
    """
    if len(claims) > MAX_CLAIMED:
        raise click.BadParameter(f"at most {MAX_CLAIMED} places can be compared", param_hint="--claim")
    inputs = collect(photos)
    options = CheckOptions(claim=claims, **{name: value for name, value in fields.items() if value is not None})
    remote = None if local else url
    if remote is None:
        ensure_data(args)
    return asyncio.run(locate_inputs(inputs, options, args, form, remote, api_key, None))
