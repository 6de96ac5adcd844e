"""Changes votes and ledgers after an inquiry: new weights, and an entry for each place that was asked about."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tts.verify.consensus.votes import Vote
from tts.verify.evidence.ledger import Finding, LedgerEntry, RolloutLedger
from tts.verify.inquiry.comparison import Comparison, PlaceT
from tts.verify.inquiry.question_choice import Inquiry
from tts.verify.inquiry.rounds import PASSED_BY


def reweighed(inquiry: Inquiry, votes: Sequence[Vote]) -> list[Vote]:
    """The votes with what questions say about their places. Unchanged, to the object, where they say nothing."""
    gains, admitted = inquiry.gains(), inquiry.admitted()
    if not admitted and not any(gains.values()):
        return list(votes)
    entries = {i: list(entries_about(inquiry, i)) for i in range(len(inquiry.candidates))}
    found: list[Vote] = []
    for vote in votes:
        i = next((i for i, one in enumerate(inquiry.candidates) if not one.passed_by and vote in one.votes), None)
        found.append(vote if i is None else _weighed(vote, gains.get(i, 0.0), entries[i]))
    for i in sorted(admitted):
        found += [_weighed(vote, gains[i] + PASSED_BY, entries[i]) for vote in inquiry.candidates[i].votes]
    return found


def with_entries(ledgers: Sequence[RolloutLedger], votes: Sequence[Vote]) -> tuple[RolloutLedger, ...]:
    """The ledgers of the rollouts, with the entries that their votes have now."""
    asked = {vote.ledger.rollout_id: _asked(vote.ledger) for vote in votes if vote.ledger.answered}
    return tuple(
        ledger.model_copy(update={"entries": (*ledger.entries, *asked.get(ledger.rollout_id, ()))})
        for ledger in ledgers
    )


def _asked(ledger: RolloutLedger) -> tuple[LedgerEntry, ...]:
    return tuple(entry for entry in ledger.entries if entry.about == "asked")


def _weighed(vote: Vote, nats: float, entries: Sequence[LedgerEntry]) -> Vote:
    ledger = vote.ledger.model_copy(update={"entries": (*vote.ledger.entries, *entries)})
    return replace(vote, weight=vote.weight * math.exp(nats), ledger=ledger)


def entries_about(inquiry: Comparison[PlaceT], number: int) -> Iterator[LedgerEntry]:
    """What the verifier found out about a candidate, in rounds that count."""
    name = inquiry.candidates[number].name
    for one, counted in zip(inquiry.rounds, inquiry.counted(), strict=True):
        if number not in one.gains(counted):
            continue
        outcome, line = one.outcomes[number], one.question.line
        others = ", ".join(inquiry.candidates[i].name for i in sorted(counted) if i != number)
        asked = f"the verifier searched for “{line}” here and at {others} alike"
        yield LedgerEntry(
            about="asked",
            claim=f"{asked}: {'found' if outcome.found else 'not found'} at {name}",
            finding=Finding.SUPPORTED if outcome.found else Finding.UNSUPPORTED,
            call_id=outcome.call_id,
            tool=one.question.form,
            quote=line if outcome.found else "",
            url=outcome.url,
            retrieved_at=outcome.retrieved_at,
            against=not outcome.found,
        )
