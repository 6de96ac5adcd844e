"""The outlines of the countries and regions that a check is about, for its exports and for the map of the page."""

from __future__ import annotations

import logging
from functools import lru_cache

from tts.domain.answer import Answer
from tts.domain.claim import CheckedPlace
from tts.domain.geo import Countries
from tts.domain.outline import Outline
from tts.errors import DataError
from tts.geodata import countries
from tts.geodata.maps.outlines import Outlines
from tts.geodata.store import DataStore

_log = logging.getLogger(__name__)


def claim_outlines(answer: Answer | None, data_dir: str | None) -> tuple[Outline | None, ...]:
    """One for each claimed place, None for a place that is a circle or a rectangle. Empty without a check, and where
    the map data is not built. Blocks for some seconds with the first country of a process."""
    if answer is None or answer.check is None:
        return ()
    places = answer.check.places
    if not any(_codes(place) for place in places):
        return (None,) * len(places)
    try:
        outlines = _outlines(data_dir)
    except DataError as error:
        _log.warning("no outlines of claimed places: %s", error)
        return ()
    return tuple(outlines.of(codes, place.region) if (codes := _codes(place)) else None for place in places)


def _codes(place: CheckedPlace) -> tuple[str, ...]:
    return tuple(code for area in place.areas if isinstance(area, Countries) for code in area.codes)


@lru_cache(maxsize=2)
def _outlines(data_dir: str | None) -> Outlines:
    cartographer = DataStore(data_dir).cartographer()
    return Outlines(cartographer.shapes, cartographer.gazetteer, countries.Countries())
