"""Reads the text of labelled photos, so that a calibration is fitted to the same verdicts as in a request."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from deployments.cli.console import STDERR
from deployments.config import AppArgs
from tts.domain.photo import Photo
from tts.domain.photo_cleaning import load_photo
from tts.domain.reading import Reading
from tts.domain.request import RequestContext
from tts.eval.sample import Sample
from tts.perception.local_perception import LocalPerception
from tts.routing.locatability import CuesLocator

_PATIENCE_S = 600.0


def photo_readings(args: AppArgs, samples: Sequence[Sample]) -> dict[str, tuple[Reading, ...]]:
    """Readings by sample id; none with `routing.method: fixed`, where requests read nothing either. About a second a
    photo on one core. Needs photos that can be read."""
    if args.routing_method == "fixed" or not samples:
        return {}
    STDERR.print(f"reading the signs in {len(samples)} photos, for the calibration")
    return asyncio.run(_read_photos(samples))


async def _read_photos(samples: Sequence[Sample]) -> dict[str, tuple[Reading, ...]]:
    locator = CuesLocator(LocalPerception())
    found = {}
    for sample in samples:
        photo = await asyncio.to_thread(_load_photo, sample)
        routing = await locator.rate((photo,), RequestContext(id=sample.id, remaining_s=_PATIENCE_S))
        found[sample.id] = routing.readings
    return found


def _load_photo(sample: Sample) -> Photo:
    return load_photo(sample.load())
