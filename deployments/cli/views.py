"""The output of `geotts locate`: a live view on a terminal, plain lines otherwise.

Both get the same events. No text of a model or a tool is interpreted as markup, and control characters are dropped, so
the text in a photo cannot change the terminal.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text as RichText

from tts.domain.answer import Answer, Candidate, Evidence, PhotoAnswer, Radius, StopReason
from tts.domain.events import (
    Accepted,
    Event,
    Hypothesised,
    RolloutFinished,
    RolloutStarted,
    Routed,
    Text,
    ToolCalled,
    ToolResulted,
)
from tts.domain.geo import LatLon, distance_km
from tts.domain.hypothesis import Hypothesis
from tts.domain.kind_of_n import of_models
from tts.domain.plan import Plan
from tts.domain.trajectory import Run, Trajectory, fold
from tts.domain.usage import ModelUsage, Usage
from tts.report.certainty import percentage_adds
from tts.report.plain_words import ENDS, plain, plural

SmallMap = Callable[[LatLon, float], list[str]]
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_END_MARKS = {StopReason.ANSWERED: ("✓", "green"), StopReason.FAILED: ("✗", "red")}
_NO_ANSWER = {
    StopReason.QUORUM: "stopped early: the others already agreed",
    StopReason.DEADLINE: "no answer before the time was up",
    StopReason.BUDGET: "no answer before its budget was used up",
    StopReason.CANCELLED: "stopped before it had an answer",
    StopReason.FAILED: "failed without a reason",
}
_CANDIDATE_KM = 50.0
_OUTCOME_MARKS = {"agrees": "=", "contradicts": "≠", "unchecked": "?"}


def clean(text: str, limit: int = 200) -> str:
    """One printable line."""
    flat = "".join(char if char.isprintable() else " " for char in text)
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


class PlainView:
    """A line for every milestone, for logs and pipes."""

    def __init__(self, console: Console, label: str) -> None:
        self._console = console
        self._label = label
        self._sources: dict[int, str] = {}

    def __enter__(self) -> PlainView:
        self._print_line(clean(self._label))
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def show(self, event: Event) -> None:
        """Print a line for a plan, tool call, tool result, hypothesis or end of a rollout; skip other events."""
        if isinstance(event, Routed):
            self._print_line(f"  plan: {plan_text(event.plan)}")
        elif isinstance(event, RolloutStarted):
            self._sources[event.rollout_id] = event.source
        elif isinstance(event, ToolCalled):
            self._print_line(f"  [{self._asker_text(event)}] {call_text(event)}")
        elif isinstance(event, ToolResulted):
            self._print_line(f"  [{self._asker_text(event)}]   → {clean(event.result.text, 120)}")
        elif isinstance(event, Hypothesised):
            self._print_line(f"  [{self._rollout_text(event.rollout_id)}] thinks: {belief_text(event.hypothesis)}")
        elif isinstance(event, RolloutFinished):
            self._print_line(f"  [{self._rollout_text(event.rollout_id)}] {_end_line(event)}")

    def _asker_text(self, event: ToolCalled | ToolResulted) -> str:
        return "comparison" if event.asker == "verifier" else self._rollout_text(event.rollout_id)

    def _rollout_text(self, rollout_id: int) -> str:
        return lane_text(rollout_id, self._sources.get(rollout_id, ""))

    def _print_line(self, text: str) -> None:
        self._console.print(RichText(text), soft_wrap=True)


def plan_text(plan: Plan) -> str:
    """What was decided and why; servers of older releases do not say it in one sentence."""
    text = plain(plan.summary) or f"{plan.n_planned} attempts, {plan.depth}: {plain(plan.reason)}"
    expected = plan.predicted_cost.get("cost_usd")
    return clean(text if expected is None else f"{text}; expected to cost about {money_text(expected)}", 400)


def money_text(usd: float) -> str:
    """US dollars with as many digits as a small amount needs."""
    return f"${usd:.2f}" if usd >= 0.1 else f"${usd:.4f}"


class LiveView:
    """One lane a rollout, the candidate set, and how long it has taken; redrawn in place."""

    def __init__(self, console: Console, label: str) -> None:
        self._console = console
        self._label = label
        self._run = Run()
        self._latest_lines: dict[int, str] = {}
        self._verifier_line = ""
        self._started_at = time.monotonic()
        self._live = Live(get_renderable=self._draw, console=console, refresh_per_second=10, transient=True)

    def __enter__(self) -> LiveView:
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.__exit__(None, None, None)

    def show(self, event: Event) -> None:
        """Add an event to the run that is drawn, and print the plan above the live part."""
        self._run = fold([event], self._run)
        if isinstance(event, Accepted):
            self._started_at = time.monotonic()
        elif isinstance(event, Routed):
            self._console.print(RichText(f"{clean(self._label, 80)}: {plan_text(event.plan)}"), soft_wrap=True)
        elif isinstance(event, Text):
            text = self._run.rollouts[event.rollout_id].turns[-1].text
            self._latest_lines[event.rollout_id] = clean(text.strip().rsplit("\n", 1)[-1])
        elif isinstance(event, ToolCalled | ToolResulted):
            text = call_text(event) if isinstance(event, ToolCalled) else f"→ {clean(event.result.text)}"
            if event.asker == "verifier":
                self._verifier_line = text
            else:
                self._latest_lines[event.rollout_id] = text

    def _draw(self) -> RenderableType:
        parts: list[RenderableType] = [RichText(f"{clean(self._label, 80)}  ", style="bold") + self._status_line()]
        lanes = Table.grid(padding=(0, 1))
        for _ in range(3):
            lanes.add_column(no_wrap=True, overflow="ellipsis")
        for trajectory in self._run.trajectories:
            lanes.add_row(*self._rollout_row(trajectory))
        if calls := sum(len(turn.calls) for turn in self._run.inquiry):
            lanes.add_row(
                RichText("? comparison", "cyan"),
                RichText(plural(calls, "call"), "dim"),
                RichText(self._verifier_line, "dim"),
            )
        parts.append(lanes)
        if candidates := _candidate_table(self._run):
            parts.append(candidates)
        return Group(*parts)

    def _status_line(self) -> RichText:
        took = time.monotonic() - self._started_at
        if self._run.routed is None:
            return RichText(f"reading the photo … {took:.1f} s", style="dim")
        plan = self._run.routed.plan
        models = len({one.source for one in self._run.trajectories})
        of = of_models(len(self._run.trajectories), models)
        return RichText(f"{plan.depth}, {plan.n_planned} attempts{of}, {took:.1f} s", style="dim")

    def _rollout_row(self, trajectory: Trajectory) -> tuple[RichText, RichText, RichText]:
        i = trajectory.rollout_id
        name = lane_text(i, trajectory.source)
        if trajectory.stop_reason is None:
            frame = _SPINNER[int(time.monotonic() * 10) % len(_SPINNER)]
            return (
                RichText(f"{frame} {name}", "cyan"),
                self._counts_text(trajectory),
                RichText(self._latest_lines.get(i, "…"), "dim"),
            )
        mark, colour = _END_MARKS.get(trajectory.stop_reason, ("•", "yellow"))
        return RichText(f"{mark} {name}", colour), self._counts_text(trajectory), RichText(end_text(trajectory))

    def _counts_text(self, trajectory: Trajectory) -> RichText:
        calls = sum(len(turn.calls) for turn in trajectory.turns)
        return RichText(f"{plural(len(trajectory.turns), 'step')} {plural(calls, 'call')}", "dim")


def _warning_lines(answer: Answer) -> list[RenderableType]:
    """What the files say of themselves, and what to be careful with."""
    lines: list[RenderableType] = []
    for claim in answer.file_claims:
        if claim.point is not None:
            away = f", {km(claim.distance_km)} from the answer" if claim.distance_km is not None else ""
            lines.append(RichText(f" ! the metadata of the file says {claim.point}{away} (not used)", "yellow"))
    checks = [f" {_OUTCOME_MARKS[found.outcome]} {clean(found.text, 300)}" for found in answer.file_checks]
    warnings = [f" ! {clean(plain(warning))}" for warning in answer.warnings]
    return [*lines, *(RichText(line, "yellow") for line in (*checks, *warnings))]


def answer_panel(answer: Answer, small_map: SmallMap | None) -> RenderableType:
    """The answer in a frame: where, how exactly, how sure, why, and on which evidence."""
    lines: list[RenderableType] = [
        RichText(clean(plain(contradiction.text), 600), "bold yellow") for contradiction in answer.contradictions
    ]
    if answer.per_photo:
        lines += [RichText(_photo_text(photo, answer)) for photo in answer.per_photo]
        lines += [RichText(answer.radius_remark, "dim")] if answer.radius_remark else []
    elif answer.point is None or answer.radius_km is None:
        outside = next((c for c in answer.candidates if c.outside), None)
        level = f"; the evidence only supports {place_text(answer)}" if answer.country else ""
        constrained = any(one.about == "within" for one in answer.contradictions)
        level = " within the area you gave" if constrained and not level else level
        lines.append(RichText(f"I do not know where this is{level}.", "bold yellow"))
        if outside is not None:
            best = _point_text(outside, percent=not answer.radius_remark)
            lines.append(RichText(f"Best place outside that area: {best}"))
    else:
        title = place_text(answer) or "an unnamed place"
        lines.append(RichText(f"perhaps {title}" if answer.radius_km.remark else title, "bold green"))
        lines += _radius_lines(answer, answer.radius_km)
    if answer.changed is not None:
        lines.append(RichText("\n" + clean(plain(answer.changed.text), 600)))
    if reasons := reasons_text(answer):
        lines.append(RichText("\n" + clean(plain(reasons), 600)))
    lines += [_evidence_line(evidence) for evidence in answer.evidence[:6]]
    lines += _warning_lines(answer)
    lines.append(RichText(_cost_text(answer), "dim"))
    body: RenderableType = Group(*lines)
    if small_map is not None and answer.point is not None and answer.radius_km is not None:
        span = min(12000.0, max(400.0, 5 * answer.radius_km.p90))
        picture = Group(*(RichText(line, "blue", no_wrap=True) for line in small_map(answer.point, span)))
        caption = RichText(f"height of the map: about {km(span)}", "dim")
        grid = Table.grid(padding=(0, 3))
        grid.add_row(body, Group(picture, caption))
        body = grid
    return Panel(body, border_style="green" if answer.point else "yellow", expand=False)


def _radius_lines(answer: Answer, radius: Radius) -> list[RichText]:
    """How exactly and how surely. A percentage is only for fitted engines, and where the radii do not say the same."""
    if answer.radius_remark:
        about = f"within about {km(radius.p50)}{'; ' + radius.remark if radius.remark else ' to ' + km(radius.p90)}"
        return [RichText(f"{answer.point}   {about}"), RichText(answer.radius_remark, "dim")]
    wider = f"; {radius.remark}" if radius.remark else f", very probably within {km(radius.p90)}"
    lines = [RichText(f"{answer.point}   probably within {km(radius.p50)}{wider}")]
    if percentage_adds(radius, answer.target_radius_km):
        text = f"{answer.confidence:.0%} sure that the true place is within {km(answer.target_radius_km)}"
        lines.append(RichText(text, "dim"))
    return lines


def reasons_text(answer: Answer) -> str:
    """The explanation without the contradictions that it starts with, for views that show those by themselves."""
    text = answer.explanation
    for contradiction in answer.contradictions:
        text = text.replace(contradiction.text, "", 1)
    return text.strip()


def _photo_text(photo: PhotoAnswer, answer: Answer) -> str:
    """One photo of several in one line."""
    if photo.lat is None or photo.radius_km is None:
        return f" photo {photo.photo + 1}: I do not know where this is"
    percent = not answer.radius_remark
    adds = percent and percentage_adds(photo.radius_km, answer.target_radius_km)
    sure = f", {photo.confidence:.0%} sure that it is within {km(answer.target_radius_km)}" if adds else ""
    return f" photo {photo.photo + 1}: {_point_text(photo, percent=percent)}{sure}"


def _point_text(found: Candidate | PhotoAnswer, *, percent: bool) -> str:
    names = [name for name in (found.place, found.city, found.region, found.country) if name]
    within = "very probably within" if percent else "within about"
    exact = found.radius_km
    radius = f", {exact.remark or f'{within} {km(exact.p90)}'}" if exact is not None else ""
    return clean(f"{', '.join(dict.fromkeys(names))}, {found.lat:.5f}, {found.lon:.5f}{radius}", 200)


def _evidence_line(evidence: Evidence) -> RichText:
    mark = "+" if evidence.supports else "−"
    quote = f"  “{clean(evidence.quote, 70)}”" if evidence.quote else ""
    source = f"  [{evidence.tool}]" if evidence.tool else "" if evidence.grounded else "  [not confirmed]"
    style = "default" if evidence.grounded else "dim"
    return RichText(f" {mark} {clean(evidence.claim, 100)}{quote}{source}", style)


def _candidate_table(run: Run) -> RenderableType | None:
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


def lane_text(rollout_id: int, source: str) -> str:
    """The number of a rollout, and its model where several share the rollouts of a request."""
    return f"{rollout_id} · {clean(source, 40)}" if source else str(rollout_id)


def call_text(event: ToolCalled) -> str:
    """A tool call as `name(argument=value, …)`: one printable line of at most 110 characters."""
    shown = ", ".join(f"{name}={value}" for name, value in event.call.arguments.items())
    return clean(f"{event.call.name}({shown})", 110)


def end_text(event: RolloutFinished | Trajectory) -> str:
    """What a rollout ended with: its belief, or why it failed."""
    if event.failure is not None:
        return clean(event.failure.text, 160)
    if event.error:
        return clean(event.error, 160)
    if event.answer is None and event.stop_reason in _NO_ANSWER:
        return _NO_ANSWER[event.stop_reason]
    return belief_text(event.answer)


def _end_line(event: RolloutFinished) -> str:
    """How a rollout ended, and with what."""
    text = end_text(event)
    if event.stop_reason in (StopReason.ANSWERED, StopReason.FAILED):
        return f"{ENDS[event.stop_reason]}: {text}"
    return f"{text} ({ENDS[event.stop_reason]})" if event.answer or event.error or event.failure else text


def belief_text(belief: Hypothesis | None) -> str:
    """A belief in a few words."""
    if belief is None:
        return "no answer"
    names = [name for name in (belief.place, belief.city, belief.region, belief.country or belief.country_code) if name]
    if belief.point is None:
        return clean(f"does not know{' (' + names[-1] + ')' if names else ''}")
    return clean(", ".join(names[:3]) or str(belief.point), 80)


def place_text(answer: Answer) -> str:
    """Place, city, region and country, each once, separated by commas; empty when the answer names none."""
    names = [name for name in (answer.place, answer.city, answer.region, answer.country) if name]
    return clean(", ".join(dict.fromkeys(names)), 120)


def km(distance: float) -> str:
    """A distance with as many digits as it deserves."""
    if distance < 1:
        return f"{max(1, round(distance * 1000)):d} m"
    return f"{distance:.1f} km" if distance < 10 else f"{distance:,.0f} km"


def _cost_text(answer: Answer) -> str:
    usage = answer.usage
    return (
        f"\n{plain(answer.n.text)} · {plural(usage.turns, 'step')}, {plural(usage.tool_calls, 'tool call')}"
        f", {usage.completion_tokens} tokens of text, {answer.timing.total_s:.1f} s{_remote_text(usage)}"
        + "".join(_model_cost_text(one) for one in answer.usage_by_model)
        + ("" if answer.budget is None else f"\nbudget: {answer.budget}")
    )


def _model_cost_text(used: ModelUsage) -> str:
    usage = used.usage
    money = f", {money_text(usage.cost_usd)}" if usage.cost_usd else ""
    work = f"{plural(usage.turns, 'step')}, {usage.completion_tokens} tokens of text{money}"
    return f"\n  {clean(used.model, 60)}: {plural(used.rollouts, 'attempt')}, {work}"


def _remote_text(usage: Usage) -> str:
    """What remote models took: bytes that were sent, and money where the model has a price."""
    upload = f" · {usage.bytes_sent / 1e6:.1f} MB sent" if usage.bytes_sent else ""
    return upload + (f" · {money_text(usage.cost_usd)}" if usage.cost_usd else "")
