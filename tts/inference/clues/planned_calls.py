"""Chooses the tool calls that may change the belief of the embedded engine most: enlarge, look up, check."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from tts.clues.belief import Belief
from tts.clues.clue_reader import ClueReader
from tts.clues.lookups import AROUND, GEOCODE, SEARCH
from tts.clues.mentions import Mention
from tts.clues.postal_addresses import addresses
from tts.decision_weights import weights
from tts.domain.geo import Circle, LatLon
from tts.domain.photo import Box, Photo
from tts.domain.tooling import ToolCall
from tts.geodata.english_names import language_name
from tts.inference.clues.notes import Notes, gumbel
from tts.inference.clues.photo_parts import halves, is_centre_inside
from tts.inference.clues.rereads import rereads
from tts.inference.clues.sibling_share import SiblingShare
from tts.inference.clues.unknown_words import found_names, strange_names, unknown_names
from tts.ports.model_client import ModelRequest

_W = weights("planned_calls")
_MAX_SEARCHES = int(_W["searches"])
_MAX_UNKNOWN_NAME_SEARCHES = int(_W["strange_searches"])
_MAX_TESTED = int(_W["tested_places"])
_SURE_TOWN_SHARE = _W["sure"]
_TOWN_KM = weights("belief")["town_km"]
_MIN_SEARCH_COUNTRY_SHARE = _W["in_country"]
_DECIDED_COUNTRY_SHARE = _W["country_decided"]
_MIN_CHECKED_SHARE = _W["worth_a_check"]
_MIN_SEARCHED_NATS = _W["telling_nats"]
_SMALL_SIDE_PX = _W["small_side_px"]
_SMALL_LINE_HEIGHT = _W["small_line"]
_DOUBTFUL_CONFIDENCE = _W["doubtful_line"]
_MIN_ENLARGED_WORTH = _W["worth_a_look"]
_ORDER_NOISE = _W["wandering"]
_CENTRE_WORTH = _W["centre_worth"]
_CENTRE_FALLOFF = _W["centre_fall"]
_UNREAD_LINE_WORTH = _W["unread_worth"]
_SMALL_LINE_WORTH = _W["small_worth"]
_READ_LINE_WORTH = _W["read_worth"]
_MAX_ARGUMENT_CHARS = 200  # characters of a tool's argument
_NO_SIBLINGS = SiblingShare()
TURNS_WITH_READING = 2


@dataclass(frozen=True, slots=True)
class PlannedCalls:
    """Tool calls of one turn and a sentence of why."""

    calls: tuple[ToolCall, ...] = ()
    why: str = ""


@dataclass(slots=True)
class _CallPlan:
    """The planned calls of a turn as they come together."""

    turn: int
    share: SiblingShare
    calls: list[ToolCall] = field(default_factory=list)
    why: list[str] = field(default_factory=list)

    def add(self, name: str, **arguments: JsonValue) -> None:
        """One more call; arguments that are None are left out."""
        arguments = {key: value for key, value in arguments.items() if value is not None}
        self.calls.append(ToolCall(id=f"call_{self.turn}_{len(self.calls)}", name=name, arguments=arguments))

    def read(self, box: Box, **arguments: JsonValue) -> None:
        self.add("read_text", bbox=[box.x0, box.y0, box.x1, box.y1], photo=box.photo, **arguments)


def plan_calls(
    known: Notes,
    mentions: tuple[Mention, ...],
    belief: Belief,
    request: ModelRequest,
    reader: ClueReader,
    share: SiblingShare = _NO_SIBLINGS,
) -> PlannedCalls:
    """The calls of this turn, none when nothing offered would help. Of several siblings each has its `share`.

    After `TURNS_WITH_READING` turns, only names that the rollout has read itself are looked up; these are not
    divided."""
    offered = {tool.name for tool in request.tools}
    point, _ = belief.best_point()
    plan = _CallPlan(known.turn, share)
    if known.turn >= TURNS_WITH_READING:
        if SEARCH in offered:
            _look_up_found_names(plan, known, belief, reader)
        return PlannedCalls(tuple(plan.calls), " ".join(plan.why))
    if "read_text" in offered and belief.mass(point, _TOWN_KM) < _SURE_TOWN_SHARE:
        _reread_or_enlarge(plan, known, belief, request, reader)
    if SEARCH in offered:
        _look_up(plan, known, mentions, belief, reader)
    if GEOCODE in offered:
        _locate_address(plan, known, belief)
    if AROUND in offered and known.turn == 0:
        _test_places(plan, request)
    if AROUND in offered and known.turn > 0:
        _search_nearby(plan, known, mentions, belief, reader)
    if share.is_first and "country_at" in offered and known.turn > 0 and not known.countries() and _is_decided(belief):
        plan.add("country_at", **_point_arguments(point))
        plan.why.append("I check which country the point lies in.")
    return PlannedCalls(tuple(plan.calls), " ".join(plan.why))


def _reread_or_enlarge(
    plan: _CallPlan, known: Notes, belief: Belief, request: ModelRequest, reader: ClueReader
) -> None:
    """One call in each turn: read a doubtful line, a part or the whole photo again, in a language that it may be in; or
    else enlarge a part.

    Names in what was read so can be looked up in the next turn.
    """
    doubtful = [] if known.read_as else plan.share.own_options(rereads(known, belief.countries, request.photos, reader))
    boxes = [] if doubtful else _boxes_to_enlarge(known, request.photos, plan.share)
    if doubtful:
        plan.read(doubtful[0].box, language=doubtful[0].language)
        name = language_name(doubtful[0].language)
        lines, them = ("Some lines", "them") if doubtful[0].several_lines else ("One line", "it")
        plan.why.append(f"{lines} may be in {name}; I read {them} again as {name}.")
    elif boxes:
        plan.read(boxes[0])
        plan.why.append("Some text may be too small to read; I enlarge that part.")


def _look_up(plan: _CallPlan, known: Notes, mentions: tuple[Mention, ...], belief: Belief, reader: ClueReader) -> None:
    """Names that could place the photo, and one that nothing explains: it may be a name read badly."""
    strange = strange_names(known, belief.countries, reader, plan.share)[:_MAX_UNKNOWN_NAME_SEARCHES]
    telling = _names_to_search(known, mentions, belief, reader, plan.share)
    _search(plan, [*telling[: _MAX_SEARCHES - len(strange)], *strange])


def _look_up_found_names(plan: _CallPlan, known: Notes, belief: Belief, reader: ClueReader) -> None:
    """Names that this rollout has read since the photo was first read, and that nothing explains yet; each in the
    likeliest country in which it was not looked up."""
    found = found_names(known, reader)
    countries: dict[str, str] = {}
    for name, country in strange_names(known, belief.countries, reader):
        if name in found:
            countries.setdefault(name, country)
    _search(plan, list(countries.items())[:_MAX_SEARCHES])


def _search(plan: _CallPlan, names: Sequence[tuple[str, str | None]]) -> None:
    for name, country in names:
        plan.add(SEARCH, query=name, country=country)
    if names:
        quoted = dict.fromkeys(f"“{name}”" for name, _ in names)
        plan.why.append(f"I look up {', '.join(quoted)}.")


def _locate_address(plan: _CallPlan, known: Notes, belief: Belief) -> None:
    """An address, once somebody can know where: it names its town, or the country is known."""
    country = _country_to_search(belief)
    for address in plan.share.own_options([*addresses(known.lines)]):
        text = address.text[:_MAX_ARGUMENT_CHARS]
        new = all(call.arguments.get("address") != text for call in known.calls)
        if new and (address.placed or country is not None):
            plan.add(GEOCODE, address=text, country=country)
            plan.why.append(f"I ask where “{text}” is.")
            return


def _search_nearby(
    plan: _CallPlan, known: Notes, mentions: tuple[Mention, ...], belief: Belief, reader: ClueReader
) -> None:
    """Search around a likely place if a word is unexplained; the word may be a name that was read badly.

    Temperature draws the place in proportion to its share, so that siblings check different ones.
    """
    rng = known.random("around")
    likely = [
        (place, share) for place, share in belief.places if share >= _MIN_CHECKED_SHARE and place.kind != "country"
    ]
    drawn = [(math.log(share) + gumbel(rng.random(), known.temperature), place) for place, share in likely]
    named = {mention.name for mention in mentions}
    if plan.share.of > 1:
        drawn = plan.share.own_options(sorted(drawn, key=lambda pair: (-pair[0], pair[1].id)))
    if drawn and any(name not in named for name, _ in unknown_names(known.lines, reader)):
        _, place = max(drawn, key=lambda pair: (pair[0], pair[1].id))
        plan.add(AROUND, **_point_arguments(place.point))
        plan.why.append(f"I check what is around {place.name}.")


def _test_places(plan: _CallPlan, request: ModelRequest) -> None:
    """Search around the places in question: a line that is the name of something there supports that place."""
    areas = [area for place in request.testing for area in place.areas]
    for area in [area for area in areas if isinstance(area, Circle)][:_MAX_TESTED]:
        plan.add(AROUND, **_point_arguments(area.centre))
    if plan.calls and request.testing:
        plan.why.append("I check what is around the places in question.")


def _point_arguments(point: LatLon) -> dict[str, JsonValue]:
    return {"latitude": round(point.lat, 4), "longitude": round(point.lon, 4)}


def _is_decided(belief: Belief) -> bool:
    return belief.country[1] >= _DECIDED_COUNTRY_SHARE


def _country_to_search(belief: Belief) -> str | None:
    """The country to search inside, once one is likely enough."""
    code, share = belief.country
    return code if share >= _MIN_SEARCH_COUNTRY_SHARE else None


def _boxes_to_enlarge(known: Notes, photos: tuple[Photo, ...], share: SiblingShare) -> list[Box]:
    """Halves of the photo, those with unread or small lettering first; temperature mixes the order."""
    rng = known.random("boxes")
    options: list[tuple[float, float, Box]] = []
    for number, photo in enumerate(photos):
        if max(photo.width, photo.height) < _SMALL_SIDE_PX:
            continue
        for box in halves(number):
            worth = _lettering_worth(known, box, photo)
            seen = share.of == 1 and box in known.looked
            if not seen and (worth >= _MIN_ENLARGED_WORTH or not known.lines):
                options.append((-worth - rng.gauss(0.0, _ORDER_NOISE * known.temperature), rng.random(), box))
    ranked = [box for _, _, box in sorted(options, key=lambda option: option[:2])]
    return [box for box in share.own_options(ranked) if box not in known.looked]


def _lettering_worth(known: Notes, box: Box, photo: Photo) -> float:
    """How much there may be to read in a box: unread lines count most, then small and doubtful ones."""
    worth = _CENTRE_WORTH * math.exp(-_CENTRE_FALLOFF * ((box.x0 - 0.25) ** 2 + (box.y0 - 0.25) ** 2))
    for unread in known.unread:
        worth += _UNREAD_LINE_WORTH if is_centre_inside(unread, box) else 0.0
    for line in known.lines:
        if line.box.photo == box.photo and is_centre_inside(line.box, box):
            small = line.height_px < _SMALL_LINE_HEIGHT * max(photo.width, photo.height)
            worth += _SMALL_LINE_WORTH if small or line.confidence < _DOUBTFUL_CONFIDENCE else _READ_LINE_WORTH
    return worth


def _names_to_search(
    known: Notes, mentions: tuple[Mention, ...], belief: Belief, reader: ClueReader, share: SiblingShare
) -> list[tuple[str, str | None]]:
    """Names not yet looked up that could place the photo, inside the likeliest country once there is one."""
    country = _country_to_search(belief)
    languages = reader.weigher.priors.language_shares(belief.countries)
    telling = []
    for mention in mentions:
        if mention.called_from_afar:  # an exchange is known without a search
            continue
        inside = [m for m in mention.matches if country is None or m.place.country_code == country]
        worth = math.log1p(mention.rate / reader.weigher.rate_elsewhere(mention, languages))
        if inside and worth >= _MIN_SEARCHED_NATS:
            telling.append((-worth, mention.name, country))
    asked = {name for name, _ in known.asked}
    mine = [(name, chosen) for _, name, chosen in share.own_options(sorted(telling)) if name not in asked]
    return mine[:_MAX_SEARCHES]
