"""The section of a report about the check of a claim."""

from __future__ import annotations

from typing import Literal

from tts.domain.answer import Answer, Evidence
from tts.domain.claim import CheckedPlace
from tts.report.evidence_box import evidence_box
from tts.report.markup import Child, Html, el, row, table
from tts.report.plain_words import VERDICTS, plain


def claim_section(answer: Answer) -> Child:
    """Verdict, places, and the evidence for and against; None where nothing was claimed."""
    check = answer.check
    if check is None:
        return None
    return [
        el("h2", f"The claim: {VERDICTS[check.verdict]}"),
        el("p", plain(check.text)),
        table(("claimed place", "verdict", "probability"), [_row(place) for place in check.places]),
        _evidence("For the claim", check.evidence_for, "for"),
        _evidence("Against the claim", check.evidence_against, "against"),
    ]


def file_section(answer: Answer) -> Child:
    """What the files claim, against the answer and each other; None where that was not asked for or nothing claimed."""
    if not answer.file_checks:
        return None
    rows = [row(f"photo {one.photo + 1}", one.about, one.outcome, one.text) for one in answer.file_checks]
    note = "Anybody can write anything into a file. These claims were not used for the answer."
    return [
        el("h2", "What the file claims"),
        el("p", note, class_="soft"),
        el("div", el("table", rows), class_="scroll"),
    ]


def _row(place: CheckedPlace) -> Html:
    mass = "not calibrated" if place.mass is None else f"{place.mass:.1%}"
    return row(place.place, VERDICTS[place.verdict], mass)


def _evidence(heading: str, items: tuple[Evidence, ...], kind: Literal["for", "against"]) -> Child:
    return [el("h3", heading), [evidence_box(item, kind) for item in items]] if items else None
