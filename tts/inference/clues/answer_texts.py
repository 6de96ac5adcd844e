"""The texts of the embedded engine: what it read, what this indicates, and the JSON answer of the generic dialect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from tts.clues.belief import Belief
from tts.clues.clue import Clue, ClueKind
from tts.clues.clue_reader import ClueReader, Leads
from tts.clues.conclusion import conclusion, conclusion_at, is_worth_a_point, place_at
from tts.clues.lookups import AROUND
from tts.clues.mentions import Mention
from tts.decision_weights import weights
from tts.domain.geo import LatLon, distance_km
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.reading import TextLine
from tts.geodata.countries import Countries
from tts.geodata.english_names import country_name
from tts.geodata.gazetteer import Place
from tts.inference.clues.notes import Notes

_BELIEF = weights("belief")
_ANSWER_KM = _BELIEF["answer_km"]
_TOWN_KM = _BELIEF["town_km"]
_W = weights("embedded")
_MIN_NAMED_COUNTRY_SHARE = _W["named_country"]
_MIN_LIKELY_SHARE = _W["likely"]
_MIN_CERTAIN_SHARE = _W["almost_certain"]
_MIN_CITED_NATS = _W["cited_nats"]
_POSITION_NATS = _W["stated_position_nats"]
_MAX_SHOWN_LINES = 6
_MAX_SHOWN_CLUES = 5
_LOOKALIKE_PUNCTUATION = re.compile("[“”„＂：，｛｝]")


def explain(known: Notes, leads: Leads, belief: Belief, countries: Countries) -> str:
    """What was read and what it suggests, in a few plain sentences."""
    if not known.lines:
        return "I can read no text in this photo."
    lines = ", ".join(f"“{line.text}”" for line in known.lines[:_MAX_SHOWN_LINES])
    more = f" and {len(known.lines) - _MAX_SHOWN_LINES} more lines" if len(known.lines) > _MAX_SHOWN_LINES else ""
    sentences = [f"I can read {lines}{more}."]
    telling = sorted(leads.clues, key=_spread_nats, reverse=True)[:_MAX_SHOWN_CLUES]
    sentences += [f"“{clue.quote}”: {clue.why}." for clue in telling]
    ranked = sorted(belief.countries.items(), key=lambda item: (-item[1], item[0]))[:3]
    likely = ", ".join(
        f"{countries.name(code)} ({_likelihood_in_words(share)})"
        for code, share in ranked
        if share >= _MIN_NAMED_COUNTRY_SHARE
    )
    sentences.append(f"Together that suggests: {likely}." if likely else "That could be almost anywhere.")
    return " ".join(sentences)


def _likelihood_in_words(share: float) -> str:
    """A share of the belief in words, because the number is not calibrated and an answer has a calibrated one."""
    if share >= _MIN_CERTAIN_SHARE:
        return "almost certain"
    return "likely" if share >= _MIN_LIKELY_SHARE else "possible"


def write_answer(explanation: str, known: Notes, leads: Leads, belief: Belief, reader: ClueReader) -> str:
    """The last turn: reasons and the JSON object, with null coordinates where the belief is too vague."""
    point, _ = belief.best_point()
    within = belief.mass(point, _ANSWER_KM)
    if not is_worth_a_point(belief, leads):
        text = f"{explanation} That is too little to name a place."
        nothing = {"lat": None, "lon": None, "level": "none", "confidence": round(within, 3)}
        return f"{text}\n{_json_of_answer(nothing | {'read': _line_objects(known.lines)})}"
    place = place_at(point, belief)
    answer = _fields(conclusion(belief, reader.countries))
    answer |= {"evidence": _evidence(known, leads, belief, place), "read": _line_objects(known.lines)}
    return f"{explanation} My answer is {answer.get('city') or answer.get('country')}.\n{_json_of_answer(answer)}"


def write_draw(point: LatLon | None, belief: Belief, countries: Countries) -> str:
    """The JSON object of an answer that is one draw from the belief; null coordinates where there is none."""
    if point is None:
        return _json_of_answer({"lat": None, "lon": None, "level": "none"})
    return _json_of_answer(_fields(conclusion_at(point, belief, countries)))


def _fields(found: Hypothesis) -> dict[str, Any]:
    """By the names that the dialect asks for, down to the level."""
    assert found.point is not None
    names = ["country", "country_code"]
    names += ["region"] if found.level is not Level.COUNTRY else []
    names += ["city"] if found.level.rank >= Level.CITY.rank else []
    return {
        "lat": found.point.lat,
        "lon": found.point.lon,
        "radius_km": found.radius_km,
        "confidence": found.confidence,
        "level": found.level.value,
        **{name: getattr(found, name) for name in names},
    }


def _line_objects(lines: Iterable[TextLine]) -> list[dict[str, Any]]:
    """The lines that a rollout used, for the verifier."""
    stated = []
    for line in lines:
        box = line.box
        fields: dict[str, Any] = {"text": line.text, "bbox": [box.x0, box.y0, box.x1, box.y1]}
        fields |= {"photo": box.photo} if box.photo else {}
        fields |= {"confidence": line.confidence}
        fields |= {"language": line.language} if line.language else {}
        stated.append(fields | ({"alternatives": list(line.alternatives)} if line.alternatives else {}))
    return stated


def _evidence(known: Notes, leads: Leads, belief: Belief, place: Place | None) -> list[dict[str, Any]]:
    """The tool results that bear the point, then the clues that speak for the country."""
    cited: list[dict[str, Any]] = []
    for fact, result in known.places():
        quote = _quote_of_name(fact.name, leads.mentions)
        read = quote is not None or result.name != AROUND  # what is around proves nothing unless the photo names it
        if read and place is not None and fact.point is not None and distance_km(fact.point, place.point) < _TOWN_KM:
            claim = f"{fact.name} is in {country_name(fact.country_code)}"
            cited.append({"claim": claim, "call": result.call_id, "quote": quote or fact.name})
    cited += [
        {"claim": f"the point lies in {checked.country}", "call": result.call_id, "quote": ""}
        for checked, result in known.countries()
    ]
    code = place.country_code if place is not None else belief.country[0]
    for clue in sorted(leads.clues, key=_spread_nats, reverse=True):
        if (
            clue.kind is not ClueKind.COORDINATES
            and clue.weight(code) > -_MIN_CITED_NATS
            and _spread_nats(clue) >= _MIN_CITED_NATS
        ):
            cited.append({"claim": clue.why, "call": None, "quote": clue.quote})
    return cited[:8]


def _quote_of_name(name: str, mentions: tuple[Mention, ...]) -> str | None:
    """The line that carries a place's name."""
    for mention in mentions:
        if any(name in (match.place.name, match.matched) for match in mention.matches):
            return mention.quote
    return None


def _spread_nats(clue: Clue) -> float:
    """How much a clue can tell countries apart, in nats."""
    values = [clue.other, *clue.weights.values()]
    return max(values) - min(values) + (_POSITION_NATS if clue.point is not None else 0.0)


def _json_of_answer(answer: dict[str, Any]) -> str:
    """JSON without typographic quotation marks: readers of what models write take those for JSON's own."""
    return _LOOKALIKE_PUNCTUATION.sub(
        lambda mark: f"\\u{ord(mark.group()):04x}", json.dumps(answer, ensure_ascii=False)
    )
