"""Rollouts for tests of verification: each with an answer, and with the facts that a tool found."""

from __future__ import annotations

from typing import Any

from tts.domain.answer import StopReason
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Claim, Hypothesis
from tts.domain.tooling import Fact, PlaceFact, ToolCall, ToolResult, WebFact
from tts.domain.trajectory import Trajectory, Turn

COIMBRA = LatLon(lat=40.2056, lon=-8.4196)
OSAKA = LatLon(lat=34.6937, lon=135.5022)


def answered_rollout(
    number: int,
    point: LatLon | None,
    *,
    facts: tuple[Fact, ...] | list[Fact] = (),
    name: str = "poi_keyword_search",
    arguments: dict[str, Any] | None = None,
    text: str = "",
    claims: tuple[Claim, ...] | list[Claim] = (),
    **belief: Any,
) -> Trajectory:
    call = ToolCall(id="c1", name=name, arguments=arguments or {"query": belief.get("city", "x")})
    result = ToolResult(call_id="c1", name=name, text="", facts=tuple(facts), retrieved_at="2026-01-01T00:00:00Z")
    turn = Turn(index=0, text=text, calls=(call,) if facts else (), results=(result,) if facts else ())
    answer = Hypothesis(point=point, claims=tuple(claims), **belief)
    return Trajectory(rollout_id=number, turns=(turn,), stop_reason=StopReason.ANSWERED, answer=answer)


def place(point: LatLon, *, ident: str = "gn:1", name: str = "Somewhere", score: float = 1.0, **more: Any) -> PlaceFact:
    return PlaceFact(id=ident, name=name, point=point, score=score, source="test", **more)


def page(town: str, url: str) -> WebFact:
    return WebFact(number=1, title=f"{town}: a walk", snippet="streets and shops", url=url)
