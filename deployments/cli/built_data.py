"""Builds the embedded data if they do not exist yet."""

from __future__ import annotations

from deployments.cli.console import STDERR, progress_bar
from deployments.config import AppArgs
from tts.geodata.store import DataStore


def ensure_data(args: AppArgs) -> None:
    """Build what is missing, with a bar; takes half a minute the first time."""
    store = DataStore(args.data_dir)
    if not store.ready:
        STDERR.print("building data, once:")
        with progress_bar() as progress:
            store.ensure(progress)
