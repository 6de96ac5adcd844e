"""`geotts data build | status | clean | gallery`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal

import click
import yaml

from deployments.cli.console import EXIT_FAILED, STDERR, config_option, progress_bar
from deployments.cli.shared_options import EXISTING_FILE
from deployments.config import AppArgs
from tts.config import GalleryConfig
from tts.gallery.build_gallery import build_gallery
from tts.geodata.store import DataStore


@click.group()
def command() -> None:
    """Build, inspect or remove the embedded data (gazetteer, lexicon and maps, about 145 MB), or make a gallery."""


@command.command()
@click.option("--force", is_flag=True, help="Build everything again.")
@config_option
def build(args: AppArgs, force: bool) -> None:
    """Build the data that are missing, outdated or corrupt. This takes about a minute, once."""
    store = DataStore(args.data_dir)
    started = time.perf_counter()
    with progress_bar() as progress:
        found = store.ensure(progress, force=force)
    took = time.perf_counter() - started
    size = sum(status.size_bytes for status in found)
    STDERR.print(f"data ready in {took:.1f} s: {size / 1e6:.0f} MB in {store.root}")


@command.command()
@config_option
def status(args: AppArgs) -> None:
    """Report whether the data are built, intact and up to date. The exit code is 1 if they are not."""
    found = DataStore(args.data_dir).status()
    for status in found:
        versions = ", ".join(f"{name} {version}" for name, version in sorted(status.versions.items()))
        click.echo(f"{status.name}: {status.state}{f' ({status.detail})' if status.detail else ''}")
        click.echo(f"  path     {status.path}\n  size     {status.size_bytes / 1e6:.1f} MB")
        click.echo(f"  made of  {versions or '-'}")
    if any(status.state != "ready" for status in found):
        click.echo("run `geotts data build`")
        raise click.exceptions.Exit(EXIT_FAILED)


@command.command()
@config_option
def clean(args: AppArgs) -> None:
    """Remove all built data."""
    click.echo(f"freed {DataStore(args.data_dir).clean() / 1e6:.1f} MB")


@command.command()
@click.argument("labels", type=EXISTING_FILE)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--encoder", type=EXISTING_FILE, required=True, help="ONNX image encoder, such as that of a CLIP model.")
@click.option("--output", default="", help="Output of the encoder to use. Default: image_embeds, or else the first.")
@click.option(
    "--side", type=click.IntRange(16, 2048), help="Pixels of each side of its input. Default: as the encoder states."
)
@click.option("--fit", type=click.Choice(["crop", "squash"]), default="crop", show_default=True,
              help="How a photo becomes a square: crop cuts it, squash changes its proportions.")  # fmt: skip
def gallery(
    labels: Path, folder: Path, encoder: Path, output: str, side: int | None, fit: Literal["crop", "squash"]
) -> None:
    """Make a gallery in FOLDER from the photos of the table LABELS: rows with file, lat, lon, and optionally id.

    It prints the configuration for the gallery (docs/dialects.md). It takes about 0.1 s for each photo.
    """
    table, vectors = folder / "photos.csv", folder / "vectors.npy"
    config = GalleryConfig(table=table, embeddings=vectors, encoder=encoder, output=output, side=side, fit=fit)
    with progress_bar() as progress:
        count = build_gallery(labels, config, lambda done, all_of: progress("photos", done / all_of))
    STDERR.print(f"{count} photos in {folder}", soft_wrap=True)
    changed = config.model_dump(mode="json", exclude_defaults=True)
    click.echo(yaml.safe_dump({"gallery": changed}, sort_keys=False), nl=False)
