"""The section of a report about the check of a claim."""

from __future__ import annotations

from typing import Literal

from tts.domain.answer import Answer, Evidence
from tts.domain.claim import CheckedPlace
from tts.report.evidence_box import evidence_box
from tts.report.markup import Child, el
from tts.report.plain_words import VERDICTS, plain


def claim_section(answer: Answer) -> Child:
    """Verdict, places, and the evidence for and against; None where nothing was claimed."""
    check = answer.check
    if check is None:
        return None
    rows = [_row(place) for place in check.places]
    head = el("tr", [el("th", name) for name in ("claimed place", "verdict", "probability")])
    return [
        el("h2", f"The claim: {VERDICTS[check.verdict]}"),
        el("p", plain(check.text)),
        el("div", el("table", el("thead", head), el("tbody", rows)), class_="scroll"),
        _evidence("For the claim", check.evidence_for, "for"),
        _evidence("Against the claim", check.evidence_against, "against"),
    ]


def file_section(answer: Answer) -> Child:
    """What the files claim, against the answer and each other; None where that was not asked for or nothing claimed."""
    if not answer.file_checks:
        return None
    rows = [
        el(
            "tr",
            el("td", f"photo {check.photo + 1}"),
            el("td", check.about),
            el("td", check.outcome),
            el("td", check.text),
        )
        for check in answer.file_checks
    ]
    note = "Anybody can write anything into a file. These claims were not used for the answer."
    return [
        el("h2", "What the file claims"),
        el("p", note, class_="soft"),
        el("div", el("table", rows), class_="scroll"),
    ]


def _row(place: CheckedPlace) -> Child:
    mass = "not calibrated" if place.mass is None else f"{place.mass:.1%}"
    return el("tr", el("td", place.place), el("td", VERDICTS[place.verdict]), el("td", mass))


def _evidence(heading: str, items: tuple[Evidence, ...], kind: Literal["for", "against"]) -> Child:
    return [el("h3", heading), [evidence_box(item, kind) for item in items]] if items else None
