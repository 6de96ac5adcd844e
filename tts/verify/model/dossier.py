"""The input of a verifier model: each branch, condensed to its claim and the evidence for and against it.

Branches are shuffled and named by letters, without scores, confidences, votes or style: only results of
tools and the photo may influence the choice. Text of tools and models is quoted; lines with instructions to their
reader are left out. Evidence is added branch by branch, firmest first, until the token budget is spent.

Where the rollouts of a request are of several models, branches show which of them share one. The models have numbers,
not names: a name would be a reason to believe that no tool gave.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tts.domain.geo import LatLon
from tts.domain.text_length import MIXED_CHARS_A_TOKEN
from tts.verify.consensus.votes import point_of
from tts.verify.evidence.ledger import Finding, LedgerEntry, RolloutLedger
from tts.verify.evidence.prompt_injection import speaks_to_the_model

_MAX_QUOTE_CHARS = 220
_FINDING_RANKS = {
    Finding.SUPPORTED: 0,
    Finding.CONTRADICTED: 0,
    Finding.NOT_DONE: 1,
    Finding.UNSUPPORTED: 2,
    Finding.UNDECIDED: 3,
}
_FINDING_TEXTS = {
    Finding.SUPPORTED: "a tool or the photo says so",
    Finding.CONTRADICTED: "contradicted",
    Finding.UNSUPPORTED: "nothing shows it",
    Finding.NOT_DONE: "claimed, but never done",
    Finding.UNDECIDED: "says nothing about either place",
}


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One piece of evidence under the id by which a verdict cites it."""

    id: str
    ledger: RolloutLedger
    entry: LedgerEntry


@dataclass(frozen=True, slots=True)
class Branch:
    """One rollout under a letter."""

    label: str
    ledger: RolloutLedger

    @property
    def point(self) -> LatLon:
        """The point of the rollout's hypothesis; a branch always has one."""
        return point_of(self.ledger.hypothesis)


@dataclass(frozen=True, slots=True)
class Dossier:
    """Branches in shuffled order, the evidence that is shown, and the text of it all."""

    branches: tuple[Branch, ...]
    exhibits: dict[str, Exhibit]
    text: str

    def branch(self, label: str) -> Branch | None:
        """The branch with this letter; None when there is none."""
        return next((branch for branch in self.branches if branch.label == label), None)


def make_dossier(
    ledgers: Sequence[RolloutLedger], *, token_budget: int, seed: str, sources: Mapping[int, str] | None = None
) -> Dossier:
    """Condense ledgers with a point. The same seed shuffles the same way. `sources` names the model of each rollout of
    the request; with several models, the branches show which of them share one."""
    ledgers_with_point = [ledger for ledger in ledgers if ledger.hypothesis.point is not None]
    random.Random(seed).shuffle(ledgers_with_point)
    branches = tuple(Branch(_branch_label(i), ledger) for i, ledger in enumerate(ledgers_with_point))
    models = _model_numbers(branches, sources or {})
    lines = {branch.label: [_headline(branch, models.get(branch.label))] for branch in branches}
    remaining_chars = int(token_budget * MIXED_CHARS_A_TOKEN) - sum(len(line[0]) for line in lines.values())
    remaining_entries = {branch.label: _entries_to_show(branch.ledger) for branch in branches}
    exhibits: dict[str, Exhibit] = {}
    while remaining_chars > 0 and any(remaining_entries.values()):
        for branch in branches:
            if not remaining_entries[branch.label]:
                continue
            entry = remaining_entries[branch.label].pop(0)
            exhibit = Exhibit(f"{branch.label}{len(lines[branch.label])}", branch.ledger, entry)
            line = _exhibit_line(exhibit)
            remaining_chars -= len(line)
            if remaining_chars < 0:
                break
            exhibits[exhibit.id] = exhibit
            lines[branch.label].append(line)
    return Dossier(branches, exhibits, "\n\n".join("\n".join(lines[branch.label]) for branch in branches))


def _branch_label(index: int) -> str:
    letters = string.ascii_uppercase
    return (
        letters[index] if index < len(letters) else letters[index // len(letters) - 1] + letters[index % len(letters)]
    )


def _entries_to_show(ledger: RolloutLedger) -> list[LedgerEntry]:
    seen: set[tuple[str, str]] = set()
    entries = []
    for entry in sorted(ledger.entries, key=lambda entry: _FINDING_RANKS[entry.finding]):
        if (entry.claim, entry.quote) in seen or speaks_to_the_model(f"{entry.claim}\n{entry.quote}"):
            continue
        seen.add((entry.claim, entry.quote))
        entries.append(entry)
    return entries


def _model_numbers(branches: Sequence[Branch], sources: Mapping[int, str]) -> dict[str, int]:
    """The number of the model of each branch, in the order in which branches are shown. Nothing for a lone branch, or
    where all rollouts of the request are of one model."""
    if len(branches) < 2 or len({source for source in sources.values() if source}) < 2:
        return {}
    known = {branch.label: source for branch in branches if (source := sources.get(branch.ledger.rollout_id))}
    numbers = {source: number for number, source in enumerate(dict.fromkeys(known.values()), start=1)}
    return {label: numbers[source] for label, source in known.items()}


def _headline(branch: Branch, model: int | None) -> str:
    hypothesis = branch.ledger.hypothesis
    names = ", ".join(
        name for name in (hypothesis.place, hypothesis.city, hypothesis.region, hypothesis.country) if name
    )
    if speaks_to_the_model(names):
        names = ""
    where = f"{branch.point.lat:.4f}, {branch.point.lon:.4f}"
    named = f" {_quote(names)}" if names else ""
    return f"Branch {branch.label}: {where}{named}{'' if model is None else f' (model {model})'}"


def _exhibit_line(exhibit: Exhibit) -> str:
    entry = exhibit.entry
    source = f" ({entry.tool}: {_quote(entry.quote)})" if entry.tool and entry.quote else ""
    if not source and entry.quote:
        source = f" (photo: {_quote(entry.quote)})"
    return f"  [{exhibit.id}] {_quote(entry.claim)}{source}: {_FINDING_TEXTS[entry.finding]}"


def _quote(text: str) -> str:
    """One line of JSON string: whatever it contains, it cannot end the quotation."""
    flat = " ".join(text.split())
    return json.dumps(flat if len(flat) <= _MAX_QUOTE_CHARS else flat[: _MAX_QUOTE_CHARS - 1] + "…", ensure_ascii=False)
