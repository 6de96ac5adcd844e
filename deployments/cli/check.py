"""`geotts check`."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from deployments.cli import shared_options
from deployments.cli.built_data import ensure_data
from deployments.cli.console import config_option, profile_options
from deployments.cli.inputs import collect
from deployments.cli.locate import locate_inputs
from deployments.config import AppArgs
from geotts_client.check_options import MAX_CLAIMED
from tts.domain.claim import CheckOptions
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
    help="Number of attempts (blind rollouts), which do not get the claim.",
)
@shared_options.depth
@shared_options.as_json
@shared_options.as_geojson
@shared_options.local
@shared_options.url
@shared_options.api_key
@shared_options.deadline
@shared_options.seed
@shared_options.include
@config_option
@profile_options
def command(
    photos: tuple[str, ...], claims: tuple[str, ...], args: AppArgs, form: str | None, local: bool, url: str | None,
    api_key: str | None, **fields: Any,
) -> int:  # fmt: skip
    """Check whether PHOTOs were taken at the place of --claim.

    The verdict is supported, contradicted or cannot be decided. The exit code is 0 if every photo was checked, whatever
    the verdict; 1 if some failed; 2 if a claim names no known place.
    """
    if len(claims) > MAX_CLAIMED:
        raise click.BadParameter(f"at most {MAX_CLAIMED} places can be compared", param_hint="--claim")
    inputs = collect(photos)
    options = CheckOptions(claim=claims, **{name: value for name, value in fields.items() if value is not None})
    remote = None if local else url
    if remote is None:
        ensure_data(args)
    return asyncio.run(locate_inputs(inputs, options, args, form, remote, api_key, None))
