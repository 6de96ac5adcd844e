"""The parts of a report, each from the answer or the run alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal

from tts.domain.answer import Answer, Candidate, Evidence, PhotoAnswer
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Hypothesis
from tts.domain.kind_of_n import of_models
from tts.domain.tooling import ToolResult
from tts.domain.trajectory import Run, Trajectory, Turn
from tts.domain.usage import Usage
from tts.report.certainty import percentage_adds
from tts.report.evidence_box import evidence_box
from tts.report.markup import Child, Html, el, link, row, table
from tts.report.plain_words import ENDS, REQUEST_ENDS, plain, plural

_MAX_TEXT_CHARS = 6000  # characters of one turn or result that a report shows


def headline(answer: Answer) -> Html:
    """Where, how exactly, how sure."""
    point, radius = answer.point, answer.radius_km
    if point is None or radius is None:
        known = place_name(answer)
        coarse = f"The evidence only supports {known}." if known else "Nothing in the photo supports a place."
        title = "It is not known where this is"
        about = {contradiction.about for contradiction in answer.contradictions}
        if "photos" in about:
            title, coarse = "These photos do not fit one place", "What each photo says by itself is listed below."
        elif "within" in about:
            title, coarse = "The photo does not fit the area you gave", "Nothing supports a place inside that area."
        elif any(candidate.outside for candidate in answer.candidates):  # too weak to rule the area out
            coarse = "Nothing that was found supports a place inside the area you gave."
        elif answer.per_photo:
            coarse = "What each photo says by itself is listed below."
        return el("header", el("h1", title), el("p", coarse, class_="where"))
    sure = answer.radius_remark
    if answer.radius_remark:
        wider = f"; {radius.remark}" if radius.remark else f" to {distance(radius.p90)}"
        exact = f"within about {distance(radius.p50)}{wider}"
    else:
        if percentage_adds(radius, answer.target_radius_km):
            sure = f"{answer.confidence:.0%} sure that the true place is within {distance(answer.target_radius_km)}"
        wider = radius.remark or f"very probably within {distance(radius.p90)}"
        exact = f"probably within {distance(radius.p50)} · {wider}"
    return el(
        "header",
        el("h1", title_of(answer)),
        el("p", el("code", str(point)), " · ", exact, class_="where"),
        el("p", sure and f"{sure} · ", link(_map_url(point), "open this point on openstreetmap.org"), class_="soft"),
    )


def contradictions(answer: Answer) -> Child:
    """What was found against the caller's area, hint or photos; shown above everything else."""
    return [
        el("p", plain(contradiction.text), class_="warn contradiction", role="alert")
        for contradiction in answer.contradictions
    ]


def radius_wording(answer: Answer) -> str:
    """How the wider radius is worded: as probable only where it was fitted to the engine that answered."""
    return "within about" if answer.radius_remark else "very probably within"


def per_photo(answer: Answer) -> Child:
    """A row for each photo, when they cannot be of one place."""
    if not answer.per_photo:
        return None
    percent = not answer.radius_remark
    columns = ("photo", "place", "point", radius_wording(answer), *(["confidence"] if percent else []))
    return [
        el("h2", "Each photo alone"),
        el("p", answer.radius_remark, class_="soft") if answer.radius_remark else None,
        table(columns, [_photo(one, percent=percent) for one in answer.per_photo]),
    ]


def _photo(one: PhotoAnswer, *, percent: bool) -> Html:
    if one.lat is None or one.lon is None or one.radius_km is None:
        return row(one.photo + 1, "not known", *[None] * (3 if percent else 2))
    return row(
        one.photo + 1,
        place_name(one),
        el("code", f"{one.lat:.4f}, {one.lon:.4f}"),
        one.radius_km.remark or distance(one.radius_km.p90),
        *([f"{one.confidence:.0%}"] if percent else []),
    )


def warnings(answer: Answer) -> Iterator[Html]:
    """The warnings of the answer, and the positions in the metadata of the files, which were not used."""
    for warning in answer.warnings:
        yield el("p", plain(warning), class_="warn")
    for claim in answer.file_claims:
        if claim.point is not None:
            away = f", {distance(claim.distance_km)} from this answer" if claim.distance_km is not None else ""
            yield el("p", f"The metadata of the file says {claim.point}{away}. This was not used.", class_="warn")


def evidence(answer: Answer) -> Child:
    """The evidence in the order of the answer; the word “None.” where there is none."""
    if not answer.evidence:
        return el("p", "None.", class_="soft")
    return [_evidence(item) for item in answer.evidence]


def candidates(answer: Answer) -> Child:
    """A heading and a table, numbered from 1 in the order of the answer; None without candidates."""
    if not answer.candidates:
        return None
    columns = ("", "place", "point", "weight of evidence", radius_wording(answer), "attempts", "against")
    rows = [_candidate(number, candidate) for number, candidate in enumerate(answer.candidates, start=1)]
    return [el("h2", "Candidates"), table(columns, rows)]


def rollouts(run: Run) -> Child:
    """Every rollout with its texts, its calls and their results; folded away."""
    if not run.trajectories:
        return None
    return [el("h2", "Attempts"), [_rollout(trajectory) for trajectory in run.trajectories], _inquiry(run)]


def provenance(answer: Answer) -> Html:
    """All that is needed to get this answer again."""
    known = answer.provenance
    rows = [
        ("photo", " ".join(known.photo_sha256)),
        ("as sent", " ".join(known.source_sha256)),
        ("answered", known.answered_at),
        ("engine", f"{known.engine} {known.model}" if known.model != known.engine else known.engine),
        ("form of requests", f"{known.dialect} (prompt {known.prompt_sha256[:12]})"),
        ("compared by", known.verifier),
        ("providers", ", ".join(known.providers)),
        ("data", ", ".join(f"{name} {version}" for name, version in sorted(known.data_versions.items()))),
        ("start number", str(known.seed)),
        ("version", f"GeoTTS {known.version}"),
        ("radii", _radii(answer)),
        ("end", REQUEST_ENDS[answer.stop_reason]),
        (
            "attempts",
            f"{answer.n.asked} requested, {answer.n.planned} planned, "
            f"{answer.n.run}{_models_text(answer)} started, {answer.n.answered - answer.n.abstained} answered, "
            f"{answer.n.abstained} do not know",
        ),
        ("cost", _cost(answer.usage, f"{answer.timing.total_s:.1f} s")),
        *_cost_of_models(answer),
        ("depth", f"{answer.route.plan.depth.value}: {plain(answer.route.plan.reason)}" if answer.route else ""),
    ]
    return el("dl", [[el("dt", name), el("dd", value)] for name, value in rows if value.strip()])


def _radii(answer: Answer) -> str:
    """Both radii under their names in the JSON."""
    radius = answer.radius_km
    return f"p50 {distance(radius.p50)}, p90 {distance(radius.p90)}" if radius is not None else ""


def place_name(answer: Answer | Candidate | PhotoAnswer) -> str:
    """Place, city, region and country as far as they are known, each name once; empty when none is."""
    names = (answer.place, answer.city, answer.region, answer.country)
    return ", ".join(dict.fromkeys(name for name in names if name))


def title_of(answer: Answer) -> str:
    """The place; “Perhaps …” where the 90 % radius is wider than a continent."""
    name = place_name(answer)
    doubtful = answer.radius_km is not None and bool(answer.radius_km.remark)
    return (f"Perhaps {name}" if doubtful else name) if name else "An unnamed place"


def distance(km: float) -> str:
    """With as many digits as it deserves."""
    if km < 1:
        return f"{max(1, round(km * 1000)):d} m"
    return f"{km:.1f} km" if km < 10 else f"{km:,.0f} km"


def _map_url(point: LatLon) -> str:
    return f"https://www.openstreetmap.org/?mlat={point.lat:.5f}&mlon={point.lon:.5f}#map=10/{point.lat:.5f}/{point.lon:.5f}"


def _evidence(item: Evidence) -> Html:
    if not item.grounded:
        return evidence_box(item, "unsupported", "stated, not confirmed by a tool")
    kind: Literal["for", "against"] = "for" if item.supports else "against"
    return evidence_box(item, kind, kind)


def _candidate(number: int, candidate: Candidate) -> Html:
    return row(
        number,
        [place_name(candidate), " (outside the area that was given)" if candidate.outside else None],
        el("code", f"{candidate.lat:.4f}, {candidate.lon:.4f}"),
        f"{candidate.support:.2f}",
        candidate.radius_km.remark or distance(candidate.radius_km.p90),
        ", ".join(str(rollout) for rollout in candidate.rollouts),
        "; ".join(candidate.dissent),
    )


def _rollout(trajectory: Trajectory) -> Html:
    end = ENDS[trajectory.stop_reason] if trajectory.stop_reason else "running"
    calls = sum(len(turn.calls) for turn in trajectory.turns)
    outcome = trajectory.error or _belief(trajectory.answer)
    counts = f"{plural(len(trajectory.turns), 'step')}, {plural(calls, 'tool call')}"
    name = f"Attempt {trajectory.rollout_id}{f' by {trajectory.source}' if trajectory.source else ''}"
    summary = el(
        "summary",
        f"{name}: {outcome} ",
        el("span", f"({end}; {counts})", class_="soft"),
    )
    return el("details", summary, [_turn(turn) for turn in trajectory.turns], class_="box")


def _inquiry(run: Run) -> Child:
    """What the verifier asked tools itself."""
    if not run.inquiry:
        return None
    calls = sum(len(turn.calls) for turn in run.inquiry)
    summary = el("summary", "Comparison ", el("span", f"({plural(calls, 'tool call')})", class_="soft"))
    return el("details", summary, [_turn(turn) for turn in run.inquiry], class_="box")


def _turn(turn: Turn) -> Child:
    results = {result.call_id: result for result in turn.results}
    shown: list[Child] = [el("p", f"Step {turn.index + 1}", class_="who small")]
    if turn.text.strip():
        shown.append(el("pre", _shorten(turn.text.strip())))
    for call in turn.calls:
        asked = f"{call.name}({json.dumps(call.arguments, ensure_ascii=False)})"
        shown.append(el("pre", el("strong", _shorten(asked)), _result(results.get(call.id))))
    return shown


def _result(result: ToolResult | None) -> str:
    return "" if result is None else f"\n{_shorten(result.text)}"


def _belief(belief: Hypothesis | None) -> str:
    if belief is None:
        return "no answer"
    names = [name for name in (belief.place, belief.city, belief.region, belief.country) if name]
    if belief.point is None:
        return f"does not know{f' ({names[-1]})' if names else ''}"
    return f"{', '.join(names) or 'unnamed'} at {belief.point}"


def _cost(usage: Usage, first: str) -> str:
    tokens = f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens" if usage.prompt_tokens else ""
    money = f"${usage.cost_usd:.4f}" if usage.cost_usd else ""
    work = (plural(usage.turns, "step"), plural(usage.tool_calls, "tool call"))
    parts = (first, *work, tokens, money)
    return ", ".join(part for part in parts if part)


def _models_text(answer: Answer) -> str:
    return "" if answer.n.models is None else of_models(answer.n.run, answer.n.models)


def _cost_of_models(answer: Answer) -> Iterator[tuple[str, str]]:
    """What each model of a mixture took."""
    for one in answer.usage_by_model:
        yield f"cost of {one.model}", _cost(one.usage, plural(one.rollouts, "attempt"))


def _shorten(text: str) -> str:
    return (
        text
        if len(text) <= _MAX_TEXT_CHARS
        else f"{text[:_MAX_TEXT_CHARS]}… ({len(text) - _MAX_TEXT_CHARS:,} more characters)"
    )
