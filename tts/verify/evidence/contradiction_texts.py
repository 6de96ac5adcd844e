"""The texts of contradictions between the photo and the caller."""

from __future__ import annotations

from tts.domain.answer import PhotoAnswer, Verdict
from tts.domain.geo import Area, Countries
from tts.domain.hypothesis import Hypothesis
from tts.verify.evidence.world import World


def place_words(found: Verdict | PhotoAnswer | Hypothesis) -> str:
    """“Bellinzona (Switzerland)”, or the country alone; empty when nothing is named."""
    finest = found.place or found.city or found.region
    if not finest:
        return found.country
    return f"{finest} ({found.country})" if found.country else finest


def what_the_photo_says(found: Verdict | PhotoAnswer | Hypothesis, *, read: bool) -> str:
    """“says Bellinzona (Switzerland)” where the name was read, else “points to …”."""
    verb = "says" if read and (found.place or found.city or found.region) else "points to"
    return f"{verb} {place_words(found) or 'another place'}"


def area_words(area: Area, world: World) -> str:
    """“the area you gave (Ukraine)”; areas in degrees are the caller's own numbers and need no repeating."""
    if not isinstance(area, Countries):
        return "the area you gave"
    names = [world.countries.name(code) for code in area.codes]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"the area you gave ({', '.join(names[:3])}{more})"
