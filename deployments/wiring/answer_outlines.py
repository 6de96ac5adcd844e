"""The outlines of the countries and regions that an answer is about, for exports and for the map of the page."""

from __future__ import annotations

import logging
from functools import lru_cache

from tts.domain.answer import Answer
from tts.domain.claim import CheckedPlace
from tts.domain.geo import Countries
from tts.domain.hypothesis import Level
from tts.domain.outline import NO_OUTLINES, AnswerOutlines
from tts.errors import DataError
from tts.geodata import countries
from tts.geodata.maps.outlines import Outlines
from tts.geodata.store import DataStore

_log = logging.getLogger(__name__)
_AREA_LEVELS = frozenset({Level.COUNTRY, Level.REGION})


def answer_outlines(answer: Answer | None, data_dir: str | None) -> AnswerOutlines:
    """Those of the claimed places, and of the country or region where an answer knows no more. None where the map data
    is not built. Blocks for some seconds with the first country of a process."""
    if answer is None:
        return NO_OUTLINES
    claimed = (
        [(_country_codes(place), place.region) for place in answer.check.places] if answer.check is not None else []
    )
    known = (answer.country_code,) if answer.country_code and answer.level in _AREA_LEVELS else ()
    nothing = AnswerOutlines((None,) * len(claimed))
    if not known and not any(codes for codes, _ in claimed):
        return nothing
    try:
        outlines = _load_outlines(data_dir)
    except DataError as error:
        _log.warning("no outlines of countries: %s", error)
        return nothing
    return AnswerOutlines(
        tuple(outlines.outline_of(codes, region) if codes else None for codes, region in claimed),
        outlines.outline_of(known, answer.region if answer.level is Level.REGION else "") if known else None,
    )


def _country_codes(place: CheckedPlace) -> tuple[str, ...]:
    return tuple(code for area in place.areas if isinstance(area, Countries) for code in area.codes)


@lru_cache(maxsize=2)
def _load_outlines(data_dir: str | None) -> Outlines:
    cartographer = DataStore(data_dir).cartographer()
    return Outlines(cartographer.shapes, cartographer.gazetteer, countries.Countries())
