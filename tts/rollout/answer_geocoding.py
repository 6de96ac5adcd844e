"""Gives an answer that names a place without a point the point of the finest name that was found.

A geocoder may have skipped the small units it does not know: the level follows the name it returned, not the question.
"""

from __future__ import annotations

from functools import lru_cache

from tts.dialects.stated_answer import StatedAnswer
from tts.domain.hypothesis import Claim, Level
from tts.domain.tooling import PlaceFact, ToolResult
from tts.geodata.countries import Countries
from tts.geodata.same_place import same_place


def answer_at_place(stated: StatedAnswer, result: ToolResult) -> StatedAnswer | None:
    """The answer at the first place in the stated country; None when the result has none."""
    country = _countries().find(stated.country) if stated.country else None
    for fact in result.facts:
        if not isinstance(fact, PlaceFact) or fact.point is None:
            continue
        if country is not None and fact.country_code and fact.country_code != country.code:
            continue
        claim = Claim(text=f"the answer was looked up: {fact.name}", call_id=result.call_id, quote=fact.name)
        level = _answer_level(stated, fact)
        return stated.model_copy(
            update={
                "point": fact.point,
                "datum": fact.datum,
                "level": level,
                "city": stated.city or (fact.name if level is Level.CITY else ""),
                "country_code": fact.country_code or stated.country_code,
                "claims": (*stated.claims, claim),
            }
        )
    return None


def _answer_level(stated: StatedAnswer, fact: PlaceFact) -> Level:
    for name, level in ((stated.place, Level.CITY), (stated.city, Level.CITY), (stated.region, Level.REGION)):
        if name and same_place(name, fact.name):
            return level
    return Level.COUNTRY if same_place(stated.country, fact.name) or not stated.region else Level.REGION


@lru_cache(maxsize=1)
def _countries() -> Countries:
    return Countries()
