"""Rollouts of a made-up model that asks one thing a turn, for `geotts bench depth --part first_calls`.

A photo shows 24 things that can be looked up, some more eye-catching than others. Some of them tell the place. A
rollout looks into two. Without a direction it draws each by how eye-catching it is. With one it begins with that, and
leaves to its siblings what they have. If what it looked up tells the place, it looks into it further, and its answer
is right. Otherwise it guesses.
"""

from __future__ import annotations

import ast
import json
import random
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from geotts_benchmarks.depth_and_stops.searching_rollouts import SEARCH
from tts.domain.geo import LatLon, destination
from tts.domain.tooling import ToolCall
from tts.domain.usage import Usage
from tts.ports.model_client import Delta, ModelRequest

_SIGN_KINDS = ("telephone number", "street name", "poster", "registration plate", "logo", "plaque", "menu", "timetable")
_SIGN_PLACES = ("on the shop sign", "above the door", "at the tram stop")
_THINGS = tuple(f"the {kind} {where}" for where in _SIGN_PLACES for kind in _SIGN_KINDS)
_ATTENTION_FACTOR = 0.7  # each thing catches the eye this much less than the one before
_TELLING_SHARE = 0.3  # chance that a thing tells the place
_RIGHT_GUESS_SHARE = 0.3  # chance that a guess is right
_LINES_WANTED = re.compile(r"write (\d+) lines of enquiry")
_GIVEN_LINE = re.compile(r"Begin with this line of enquiry: (.*)\. If it leads nowhere", re.DOTALL)
_TAKEN_LINE = re.compile(r"^- (.*)$", re.MULTILINE)
_TURNS = 2


@dataclass(frozen=True, slots=True)
class Street:
    """One photo: where it was taken, what can be looked up (most eye-catching first), which of it tells the place."""

    truth: LatLon
    things: tuple[str, ...]
    decisive_things: frozenset[str]

    @staticmethod
    def draw(rng: random.Random) -> Street:
        """A photo somewhere on land or sea, its things in an order of its own."""
        truth = LatLon(lat=rng.uniform(-50, 60), lon=rng.uniform(-180, 180))
        things = tuple(rng.sample(_THINGS, len(_THINGS)))
        return Street(truth, things, frozenset(thing for thing in things if rng.random() < _TELLING_SHARE))


class Enquirer:
    """The `ModelClient`. It keeps no state: the seed and the conversation decide."""

    name = "enquirer"

    def __init__(self, street: Street) -> None:
        self._street = street

    async def generate(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """A tool call in each of two turns, then the answer; the directions before the first call, if it is asked."""
        turn = sum(message.role == "assistant" for message in request.messages)
        rng = random.Random(f"{request.session_id.rsplit('/', 1)[-1]}/{(request.sampling.seed or 0) - turn}/{turn}")
        asked = [str(call.arguments["query"]) for message in request.messages for call in message.tool_calls]
        prompt = "\n".join(message.text for message in request.messages if message.role == "user")
        if turn < _TURNS:
            text, query = self._directions_text(prompt), self._next_query(rng, asked, prompt)
            call = ToolCall(id=f"call_{turn}", name=SEARCH, arguments={"query": query})
            yield Delta(text=text, tool_calls=(call,), finish_reason="tool_calls", usage=Usage(completion_tokens=8))
        else:
            yield Delta(text=self._answer_text(rng, asked), finish_reason="stop", usage=Usage(completion_tokens=8))

    def _directions_text(self, prompt: str) -> str:
        wanted = _LINES_WANTED.search(prompt)
        named = self._street.things[: int(wanted.group(1))] if wanted is not None else ()
        return "<directions>\n" + "\n".join(named) + "\n</directions>\n" if named else "I look something up."

    def _next_query(self, rng: random.Random, asked: Sequence[str], prompt: str) -> str:
        things = self._street.things
        if asked and asked[-1] in self._street.decisive_things:
            return f"around {asked[-1]}"
        given = _GIVEN_LINE.search(prompt)
        if not asked and given is not None:
            return str(ast.literal_eval(given.group(1)))
        if not asked and _LINES_WANTED.search(prompt) is not None:
            return things[0]
        taken = _TAKEN_LINE.findall(prompt)
        left = [thing for thing in things if thing not in asked and thing not in taken]
        return rng.choices(left, [_ATTENTION_FACTOR ** things.index(thing) for thing in left])[0]

    def _answer_text(self, rng: random.Random, asked: Sequence[str]) -> str:
        right = bool(self._street.decisive_things & set(asked)) or rng.random() < _RIGHT_GUESS_SHARE
        away_km = rng.uniform(0.0, 5.0) if right else rng.uniform(800.0, 5000.0)
        point = destination(self._street.truth, bearing_deg=rng.uniform(0, 360), distance_km=away_km)
        return json.dumps({"lat": point.lat, "lon": point.lon})
