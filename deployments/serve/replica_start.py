"""The start of every replica: telemetry, fewer garbage collections, and the listening address."""

from __future__ import annotations

import gc

from deployments.config import AppArgs
from deployments.seam.ray import install_listeners
from tts.telemetry import configure_telemetry

# Python looks for garbage at 700, so in about every request, for 0.3 ms; nearly all of it goes by its counts anyway
_GC_THRESHOLD = 10_000


def prepare_replica(args: AppArgs, name: str) -> None:
    """Call first in the constructor of a deployment: Serve opens the replica's own port after it."""
    configure_telemetry(args.telemetry, name)
    gc.set_threshold(_GC_THRESHOLD, *gc.get_threshold()[1:])
    install_listeners()
