"""The results of the tools of a synthetic request for repeated and for new calls.

Every fact that a rollout received is known, as are those that nobody has asked for yet (`Scenario.unasked`), and every
town of the gazetteer. A search for places finds what bears all words of the query, in the country that was asked for; a
search of the web returns the pages that share most words with the query, as search engines do. The same query that a
rollout made gives the same results.
"""

from __future__ import annotations

import orjson

from tts.domain.tooling import Fact, PlaceFact, ToolCall, WebFact
from tts.errors import ToolError, ToolErrorKind
from tts.eval.synthetic.scenario import Scenario
from tts.geodata.gazetteer import Gazetteer
from tts.geodata.names import normalise
from tts.geodata.place_facts import place_fact
from tts.ports.toolbox import ToolContext, ToolOutcome, ToolSchema
from tts.toolkit.spec import Observation
from tts.toolkit.toolbox import failure_outcome, success_outcome

_MAX_RESULTS = 5
_TOOL_NAMES = ("poi_keyword_search", "web_search")


class ScenarioTools:
    """The `Toolbox` port over one scenario. `calls` counts what was asked."""

    def __init__(self, scenario: Scenario, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer
        self.calls = 0
        turns = [turn for trajectory in scenario.trajectories for turn in trajectory.turns]
        outcomes = [(call, result) for turn in turns for call, result in zip(turn.calls, turn.results, strict=True)]
        self._recorded_facts = {_key(call.name, call.arguments): result.facts for call, result in outcomes}
        facts = [*scenario.unasked, *(fact for _, result in outcomes for fact in result.facts)]
        self._places = list({fact.id: fact for fact in facts if isinstance(fact, PlaceFact)}.values())
        self._pages = list({fact.url: fact for fact in facts if isinstance(fact, WebFact)}.values())

    def schemas(self) -> tuple[ToolSchema, ...]:
        """The two searches."""
        return tuple(ToolSchema(name=name, description="made up", parameters={}) for name in _TOOL_NAMES)

    async def call(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        """The facts that the query finds; NOT_FOUND when there are none."""
        return self.answer(call)

    def answer(self, call: ToolCall) -> ToolOutcome:
        """As `call`, without a loop."""
        self.calls += 1
        facts = self._recorded_facts.get(_key(call.name, call.arguments)) or self._search(call)
        if not facts:
            return failure_outcome(call, ToolError("nothing was found", kind=ToolErrorKind.NOT_FOUND))
        return success_outcome(
            call, Observation(text="", facts=facts), elapsed_s=0.0, retrieved_at="2026-01-05T09:00:00Z"
        )

    def _search(self, call: ToolCall) -> tuple[Fact, ...]:
        query = str(call.arguments.get("query", ""))
        words = frozenset(normalise(query).split())
        if call.name == "web_search":
            return self._find_pages(words)
        country = str(call.arguments.get("country") or "")
        named = [one for one in self._places if words <= _words(one) and country in ("", one.country_code)]
        towns = self._gazetteer.search(query, countries=[country] if country else None, limit=_MAX_RESULTS)
        return (*named, *(place_fact(match.place, match.score) for match in towns))[:_MAX_RESULTS]

    def _find_pages(self, words: frozenset[str]) -> tuple[WebFact, ...]:
        shared = {page.url: len(words & _words(page)) for page in self._pages}
        best = sorted(self._pages, key=lambda page: (-shared[page.url], page.url))[:_MAX_RESULTS]
        return tuple(page.model_copy(update={"number": i + 1}) for i, page in enumerate(best) if shared[page.url])


def _words(fact: PlaceFact | WebFact) -> frozenset[str]:
    text = f"{fact.name} {fact.address}" if isinstance(fact, PlaceFact) else f"{fact.title} {fact.snippet}"
    return frozenset(normalise(text).split())


def _key(name: str, arguments: object) -> bytes:
    return orjson.dumps([name, arguments], option=orjson.OPT_SORT_KEYS)
