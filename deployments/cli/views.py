"""How `geotts locate` shows what happens: a live view on a terminal, plain lines elsewhere.

Both are fed the same events. Nothing a model or a tool wrote is interpreted as markup, and control characters are
dropped, so a sign in a photo cannot repaint the terminal.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text as RichText

from tts.domain.answer import Answer, Evidence, StopReason
from tts.domain.events import Accepted, Event, Hypothesised, RolloutFinished, Routed, Text, ToolCalled, ToolResulted
from tts.domain.geo import LatLon, distance_km
from tts.domain.hypothesis import Hypothesis
from tts.domain.trajectory import Run, Trajectory, fold

SmallMap = Callable[[LatLon, float], list[str]]
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_DONE = {StopReason.ANSWERED: ("✓", "green"), StopReason.FAILED: ("✗", "red")}
_CANDIDATE_KM = 50.0


class View(Protocol):
    """Shows one photo's request. Enter it, feed events, leave it."""

    def __enter__(self) -> View: ...

    def __exit__(self, *_: object) -> None: ...

    def show(self, event: Event) -> None: ...


def clean(text: str, limit: int = 200) -> str:
    """One printable line."""
    flat = "".join(char if char.isprintable() else " " for char in text)
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


class PlainView:
    """A line for every milestone, for logs and pipes."""

    def __init__(self, console: Console, label: str) -> None:
        self._console, self._label = console, label

    def __enter__(self) -> PlainView:
        self._line(clean(self._label))
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def show(self, event: Event) -> None:
        if isinstance(event, Routed):
            plan = event.plan
            self._line(f"  plan: {plan.depth}, {plan.n_planned} rollouts ({plan.reason})")
        elif isinstance(event, ToolCalled):
            self._line(f"  [{event.rollout_id}] {call_text(event)}")
        elif isinstance(event, ToolResulted):
            self._line(f"  [{event.rollout_id}]   → {clean(event.result.text, 120)}")
        elif isinstance(event, Hypothesised):
            self._line(f"  [{event.rollout_id}] thinks: {belief_text(event.hypothesis)}")
        elif isinstance(event, RolloutFinished):
            self._line(f"  [{event.rollout_id}] {event.stop_reason}: {belief_text(event.answer)}")

    def _line(self, text: str) -> None:
        self._console.print(RichText(text), soft_wrap=True)


class LiveView:
    """One lane a rollout, the candidate set, and how long it has taken; redrawn in place."""

    def __init__(self, console: Console, label: str) -> None:
        self._console, self._label = console, label
        self._run = Run()
        self._doing: dict[int, str] = {}
        self._started = time.monotonic()
        self._live = Live(get_renderable=self._draw, console=console, refresh_per_second=10, transient=True)

    def __enter__(self) -> LiveView:
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.__exit__(None, None, None)

    def show(self, event: Event) -> None:
        self._run = fold([event], self._run)
        if isinstance(event, Accepted):
            self._started = time.monotonic()
        elif isinstance(event, Text):
            said = self._run.rollouts[event.rollout_id].turns[-1].text
            self._doing[event.rollout_id] = clean(said.strip().rsplit("\n", 1)[-1])
        elif isinstance(event, ToolCalled):
            self._doing[event.rollout_id] = call_text(event)
        elif isinstance(event, ToolResulted):
            self._doing[event.rollout_id] = f"→ {clean(event.result.text)}"

    def _draw(self) -> RenderableType:
        parts: list[RenderableType] = [RichText(f"{clean(self._label, 80)}  ", style="bold") + self._status()]
        lanes = Table.grid(padding=(0, 1))
        for _ in range(3):
            lanes.add_column(no_wrap=True, overflow="ellipsis")
        for trajectory in self._run.trajectories:
            lanes.add_row(*self._lane(trajectory))
        parts.append(lanes)
        if candidates := _candidates(self._run):
            parts.append(candidates)
        return Group(*parts)

    def _status(self) -> RichText:
        took = time.monotonic() - self._started
        if self._run.routed is None:
            return RichText(f"reading the photo … {took:.1f} s", style="dim")
        plan = self._run.routed.plan
        return RichText(f"{plan.depth}, {plan.n_planned} rollouts, {took:.1f} s", style="dim")

    def _lane(self, trajectory: Trajectory) -> tuple[RichText, RichText, RichText]:
        i = trajectory.rollout_id
        if trajectory.stop_reason is None:
            frame = _SPINNER[int(time.monotonic() * 10) % len(_SPINNER)]
            return RichText(f"{frame} {i}", "cyan"), self._counts(trajectory), RichText(self._doing.get(i, "…"), "dim")
        mark, colour = _DONE.get(trajectory.stop_reason, ("•", "yellow"))
        belief = RichText(belief_text(trajectory.answer) if not trajectory.error else clean(trajectory.error))
        return RichText(f"{mark} {i}", colour), self._counts(trajectory), belief

    def _counts(self, trajectory: Trajectory) -> RichText:
        calls = sum(len(turn.calls) for turn in trajectory.turns)
        return RichText(f"{len(trajectory.turns)} turns {calls} calls", "dim")


def answer_panel(answer: Answer, small_map: SmallMap | None) -> RenderableType:
    """The answer in a frame: where, how exactly, how sure, why, and on which evidence."""
    lines: list[RenderableType] = []
    if answer.point is None or answer.radius_km is None:
        level = f"; all that is supported: {place_text(answer)}" if answer.country else ""
        lines.append(RichText(f"I do not know where this is{level}.", "bold yellow"))
    else:
        lines.append(RichText(place_text(answer) or "an unnamed place", "bold green"))
        lines.append(
            RichText(f"{answer.point}   within {km(answer.radius_km.p50)} (50 %), {km(answer.radius_km.p90)} (90 %)")
        )
        chance = f"{answer.confidence:.0%} sure to be within {km(answer.target_radius_km)}"
        lines.append(RichText(chance, "dim"))
    if answer.explanation:
        lines.append(RichText("\n" + clean(answer.explanation, 600)))
    lines += [_evidence_line(evidence) for evidence in answer.evidence[:6]]
    for claim in answer.file_claims:
        if claim.point is not None:
            away = f", {km(claim.distance_km)} from the answer" if claim.distance_km is not None else ""
            lines.append(RichText(f" ! the file itself claims {claim.point}{away} (not used)", "yellow"))
    for warning in answer.warnings:
        lines.append(RichText(f" ! {clean(warning)}", "yellow"))
    lines.append(RichText(_cost(answer), "dim"))
    body: RenderableType = Group(*lines)
    if small_map is not None and answer.point is not None and answer.radius_km is not None:
        span = min(12000.0, max(400.0, 5 * answer.radius_km.p90))
        picture = Group(*(RichText(line, "blue", no_wrap=True) for line in small_map(answer.point, span)))
        caption = RichText(f"about {km(span)} from top to bottom", "dim")
        grid = Table.grid(padding=(0, 3))
        grid.add_row(body, Group(picture, caption))
        body = grid
    return Panel(body, border_style="green" if answer.point else "yellow", expand=False)


def _evidence_line(evidence: Evidence) -> RichText:
    mark = "+" if evidence.supports else "−"
    quote = f"  “{clean(evidence.quote, 70)}”" if evidence.quote else ""
    source = f"  [{evidence.tool}]" if evidence.tool else "" if evidence.grounded else "  [unsupported]"
    style = "default" if evidence.grounded else "dim"
    return RichText(f" {mark} {clean(evidence.claim, 100)}{quote}{source}", style)


def _candidates(run: Run) -> RenderableType | None:
    """Groups of current beliefs, the largest first."""
    groups: list[tuple[Hypothesis, int]] = []
    for trajectory in run.trajectories:
        best = trajectory.best
        if best is None or best.point is None:
            continue
        for i, (first, count) in enumerate(groups):
            if first.point is not None and distance_km(first.point, best.point) <= _CANDIDATE_KM:
                groups[i] = (first, count + 1)
                break
        else:
            groups.append((best, 1))
    if not groups:
        return None
    groups.sort(key=lambda group: -group[1])
    text = RichText("candidates: ", "dim")
    for belief, count in groups[:4]:
        text.append(f"{belief_text(belief)} ×{count}   ")
    return text


def call_text(event: ToolCalled) -> str:
    shown = ", ".join(f"{name}={value}" for name, value in event.call.arguments.items())
    return clean(f"{event.call.name}({shown})", 110)


def belief_text(belief: Hypothesis | None) -> str:
    """A belief in a few words."""
    if belief is None:
        return "no answer"
    names = [name for name in (belief.place, belief.city, belief.region, belief.country or belief.country_code) if name]
    if belief.point is None:
        return clean(f"does not know{' (' + names[-1] + ')' if names else ''}")
    return clean(", ".join(names[:3]) or str(belief.point), 80)


def place_text(answer: Answer) -> str:
    names = [name for name in (answer.place, answer.city, answer.region, answer.country) if name]
    return clean(", ".join(dict.fromkeys(names)), 120)


def km(distance: float) -> str:
    """A distance with as many digits as it deserves."""
    if distance < 1:
        return f"{max(1, round(distance * 1000)):d} m"
    return f"{distance:.1f} km" if distance < 10 else f"{distance:,.0f} km"


def _cost(answer: Answer) -> str:
    usage, n = answer.usage, answer.n
    return (
        f"\n{n.answered} of {n.run} rollouts answered · {usage.turns} turns · {usage.tool_calls} tool calls"
        f" · {usage.completion_tokens} tokens · {answer.timing.total_s:.1f} s"
    )
