"""Rollouts of a dialect: real tools over made-up providers, a scripted model, and the conversation as text to read."""

from __future__ import annotations

from support.basics import a_context
from tools.maps import MapPicture, Style, maps_tools
from tools.places import places_tools
from tools.web import image_search_tool, web_search_tool
from tools.zoom import zoom_tool
from tts.aio import closing
from tts.config import ScriptedEngine
from tts.domain.events import Hypothesised, RolloutFinished, ToolCalled
from tts.domain.geo import LatLon
from tts.domain.messages import TextPart
from tts.domain.plan import Limits
from tts.domain.request import LocateOptions
from tts.domain.tooling import CountryFact, PlaceFact, WebFact
from tts.inference.scripted.engine import ScriptedModel, ScriptedTurn
from tts.ports.rollout_groups import GroupRequest, RolloutTask
from tts.rollout.agent import Agent
from tts.rollout.group import run_group
from tts.toolkit.broker.broker import Broker
from tts.toolkit.broker.cache_store import MemoryStore
from tts.toolkit.toolbox import JoinedToolbox, LocalToolbox

OTARU = PlaceFact(
    id="p1", name="Otaru", place_kind="town", point=LatLon(lat=43.1907, lon=140.9947), country_code="JP",
    admin1="Hokkaido", score=1.0, source="test",
)  # fmt: skip
HEFEI = PlaceFact(
    id="p2", name="Hefei", place_kind="town", point=LatLon(lat=31.82057, lon=117.22901), country_code="CN",
    admin1="Anhui", score=0.97, source="test",
)  # fmt: skip
PLACES = {"otaru": OTARU, "hefei": HEFEI}


class Places:
    """Knows two towns."""

    name = "test"
    needs_network = False

    def owns(self, place_id):
        return any(place.id == place_id for place in PLACES.values())

    async def search(self, query, *, country, limit, context):
        return [place for name, place in PLACES.items() if name in query.lower()]

    autocomplete = search

    async def detail(self, place_id, *, context):
        return next((place for place in PLACES.values() if place.id == place_id), None)

    async def geocode(self, address, *, country, limit, context):
        return await self.search(address, country=country, limit=limit, context=context)

    async def reverse(self, point, *, limit, context):
        return [OTARU]

    async def country_at(self, point):
        return CountryFact(point=point, country_code="JP", country="Japan")


class Web:
    """Two hits for every query, none for "nothing"."""

    name = "test"
    needs_network = False

    async def search(self, query, *, limit, context):
        if query == "nothing":
            return []
        return [
            WebFact(number=0, title=f"{query}: a canal town", snippet="brick warehouses", url=f"https://a.test/{i}")
            for i in range(4 if len(query) > 100 else 2)
        ]

    async def search_image(self, photo, box, *, goal, limit, context):
        return [WebFact(number=0, title="Otaru canal at dusk", url="https://b.test/otaru", source="b.test")]


class Maps:
    """A grey square for every point."""

    name = "test"
    needs_network = False
    styles: frozenset[Style] = frozenset({"map", "satellite"})

    async def picture(self, point, *, style, zoom, width, height, context):
        return MapPicture(b"a map", "image/jpeg", width, height, zoom, "Made for tests.")


def toolbox():
    brokered = [
        *places_tools(Places(), Places()),
        *maps_tools(Maps()),
        web_search_tool(Web()),
        image_search_tool(Web()),
    ]
    return JoinedToolbox(LocalToolbox([zoom_tool()]), Broker(brokered, MemoryStore()))


class Recording(ScriptedModel):
    """Keeps the requests it was sent."""

    def __init__(self, *turns):
        script = [turn if isinstance(turn, ScriptedTurn) else ScriptedTurn(text=turn) for turn in turns]
        numbered = tuple(turn.model_copy(update={"turn": i}) for i, turn in enumerate(script))
        super().__init__(ScriptedEngine(), numbered)
        self.requests = []

    async def generate(self, request):
        self.requests.append(request)
        async for delta in super().generate(request):
            yield delta


class Played:
    """One finished rollout: its items, the requests the model saw, and the page."""

    def __init__(self, items, model):
        self.items = items
        self.requests = getattr(model, "requests", [])
        (self.end,) = (item for item in items if isinstance(item, RolloutFinished))

    @property
    def answer(self):
        return self.end.answer

    @property
    def calls(self):
        return [item.call for item in self.items if isinstance(item, ToolCalled)]

    @property
    def hypotheses(self):
        return [item.hypothesis for item in self.items if isinstance(item, Hypothesised)]

    def page(self):
        """The conversation as the model saw it in its last turn, what it said then, and what came of it."""
        last = self.requests[-1]
        output = "".join(item.text for item in self.items if item_turn(item) == len(self.requests) - 1)
        blocks = [block(message) for message in last.messages]
        offered = ", ".join(tool.name for tool in self.requests[0].tools) or "none"
        sampling = self.requests[0].sampling
        head = [
            f"tools: {offered}",
            f"sampling: temperature {sampling.temperature:g}, top_p {sampling.top_p:g}, top_k {sampling.top_k}, "
            f"at most {sampling.max_tokens} tokens",
        ]
        end = f"## end\n\n{self.end.stop_reason.value}: {answer_text(self.answer)}"
        return "\n\n".join([*head, *blocks, f"## assistant\n\n{output}", end]) + "\n"


def item_turn(item):
    return item.turn if type(item).__name__ == "Text" else None


def block(message):
    parts = [
        part.text if isinstance(part, TextPart) else f"[picture {part.image.width}x{part.image.height}]"
        for part in message.parts
    ]
    return f"## {message.role}\n\n{''.join(parts)}"


def answer_text(answer):
    if answer is None:
        return "no answer"
    where = ", ".join(part for part in (answer.place, answer.city, answer.region, answer.country) if part)
    claims = "".join(f"\n- {claim.text} ({claim.call_id or 'no call'})" for claim in answer.claims)
    return f"{answer.point or 'no point'} | {answer.level.value} | {where}{claims}"


async def play(dialect, photo, *turns, **changes):
    """Play scripted turns."""
    return await play_with(Recording(*turns), dialect, photo, **changes)


async def play_with(model, dialect, photo, limits=None, n=1, rollout_id=0, tools=None, seconds=600.0, use_tools=True):
    group = GroupRequest(
        context=a_context(seconds), photos=(photo,), tasks=(RolloutTask(rollout_id=rollout_id, seed=7),), n_total=n,
        limits=limits or Limits(max_turns=64, max_tool_calls=256, max_tokens=100_000),
        options=LocateOptions(tools=tools), use_tools=use_tools,
    )  # fmt: skip
    async with closing(run_group(Agent(model, dialect, toolbox()), group, coalesce_s=0.0)) as batches:
        return Played([item async for batch in batches for item in batch], model)
