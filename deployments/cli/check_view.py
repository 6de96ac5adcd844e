"""Prints the result of `geotts check`: the verdict, the evidence for and against the claim, then the answer."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text as RichText

from deployments.cli.views import clean
from tts.domain.answer import Evidence
from tts.domain.claim import CheckedPlace, ClaimCheck
from tts.report.plain_words import VERDICTS, plain

_COLOURS = {"supported": "green", "contradicted": "red", "not_decidable": "yellow"}
_MAX_EVIDENCE = 6


def check_panel(check: ClaimCheck) -> RenderableType:
    """The check in a frame."""
    colour = _COLOURS[check.verdict]
    lines: list[RenderableType] = [
        RichText(VERDICTS[check.verdict], f"bold {colour}"),
        RichText(clean(plain(check.text), 800)),
    ]
    if len(check.places) > 1:
        lines += [RichText(_place_text(number, place)) for number, place in enumerate(check.places, start=1)]
    for heading, evidence in (("for it", check.evidence_for), ("against it", check.evidence_against)):
        if evidence:
            lines.append(RichText(f"\n{heading}:", "dim"))
            lines += [RichText(_evidence_text(item)) for item in evidence[:_MAX_EVIDENCE]]
    return Panel(Group(*lines), border_style=colour, expand=False)


def _place_text(number: int, place: CheckedPlace) -> str:
    sure = "" if place.mass is None else f", probability {place.mass:.1%}"
    return clean(f" {number}. {place.place}: {VERDICTS[place.verdict]}{sure}", 200)


def _evidence_text(item: Evidence) -> str:
    mark = "+" if item.supports else "−"
    quote = f"  “{clean(item.quote, 70)}”" if item.quote else ""
    call = f" {item.call_id}" if item.call_id else ""
    source = f"  [attempt {item.rollout_id}{call} {item.tool}]" if item.rollout_id is not None else ""
    return f" {mark} {clean(item.claim, 100)}{quote}{source.replace(' ]', ']')}"
