"""Makes the ledger entries of an inquiry: one for each place that a call asked about, also where it decided nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tts.verify.consensus.votes import Vote
from tts.verify.evidence.ledger import Finding, LedgerEntry, RolloutLedger
from tts.verify.inquiry.comparison import Comparison, PlaceT
from tts.verify.inquiry.question import Question
from tts.verify.inquiry.question_choice import Inquiry, OpenSearch
from tts.verify.inquiry.rounds import Outcome, Round


def with_entries(ledgers: Sequence[RolloutLedger], votes: Sequence[Vote]) -> tuple[RolloutLedger, ...]:
    """The ledgers of the rollouts, with the entries that their votes have now."""
    asked = {vote.ledger.rollout_id: _inquiry_entries(vote.ledger) for vote in votes if vote.ledger.is_answer}
    return tuple(ledger.with_entries(asked.get(ledger.rollout_id, ())) for ledger in ledgers)


def _inquiry_entries(ledger: RolloutLedger) -> tuple[LedgerEntry, ...]:
    return tuple(entry for entry in ledger.entries if entry.about == "asked")


def with_undecided(
    ledgers: Sequence[RolloutLedger], inquiry: Inquiry, votes: Sequence[Vote]
) -> tuple[RolloutLedger, ...]:
    """The ledgers with an entry for each call that changed no vote, so that every call of the verifier is in a ledger.

    `votes` are those after the inquiry. The entry goes to the rollouts that answer the place of the call, or to the
    first ledger where none does.
    """
    if not ledgers:
        return ()
    entered_call_ids = {entry.call_id for vote in votes for entry in _inquiry_entries(vote.ledger)}
    rollout_ids = {ledger.rollout_id for ledger in ledgers}
    new_entries: dict[int, list[LedgerEntry]] = {ledger.rollout_id: [] for ledger in ledgers}
    first = ledgers[0].rollout_id
    new_entries[first] += map(_open_search_entry, inquiry.open_searches)
    for one, counted in zip(inquiry.rounds, inquiry.counted_places(), strict=True):
        for number, outcome in one.outcomes.items():
            if not outcome.call_id or outcome.call_id in entered_call_ids:
                continue
            candidate = inquiry.candidates[number]
            owners = {vote.ledger.rollout_id for vote in candidate.votes if not candidate.is_unchosen} & rollout_ids
            for rollout_id in owners or {first}:
                new_entries[rollout_id].append(_undecided_entry(inquiry, one, number, counted))
    return tuple(ledger.with_entries(new_entries[ledger.rollout_id]) for ledger in ledgers)


def _undecided_entry(inquiry: Inquiry, one: Round, number: int, counted: frozenset[int]) -> LedgerEntry:
    outcome, line = one.outcomes[number], one.question.line
    if _is_decisive(one, number, counted):
        found = "found, which is not enough" if outcome.found else "not found"
        name = inquiry.candidates[number].name
        claim = f"the comparison searched for “{line}” at {name}, which no rollout names: {found}"
    else:
        names = " and at ".join(inquiry.candidates[i].name for i in sorted(one.outcomes))
        claim = f"the comparison searched for “{line}” at {names}, which decided nothing: {_undecided_reason(one)}"
    return _entry_without_weight(claim, one.question, outcome)


def _open_search_entry(one: OpenSearch) -> LedgerEntry:
    led_to = f"it led to {' and '.join(one.found)}" if one.found else "it led to no other place"
    return _entry_without_weight(
        f"the comparison searched for “{one.question.line}” everywhere: {led_to}", one.question, one
    )


def _entry_without_weight(claim: str, question: Question, source: Outcome | OpenSearch) -> LedgerEntry:
    return LedgerEntry(
        about="asked",
        claim=claim,
        finding=Finding.UNDECIDED,
        call_id=source.call_id,
        tool=question.form,
        retrieved_at=source.retrieved_at,
    )


def _is_decisive(one: Round, number: int, counted: frozenset[int]) -> bool:
    weight_changes = one.weight_changes(counted)
    return number in weight_changes and any(weight_changes.values())


def _undecided_reason(one: Round) -> str:
    """Why a round distinguished no places."""
    found = {outcome.found for outcome in one.outcomes.values()}
    if None in found:
        return "a search failed or returned nothing"
    if found == {True}:
        return "it was found at each of them"
    if found == {False}:
        return "it was found at none of them"
    return "it is why a place was considered at all"


def entries_about(inquiry: Comparison[PlaceT], number: int) -> Iterator[LedgerEntry]:
    """What the verifier found out about a candidate, in rounds that distinguish it from another."""
    name = inquiry.candidates[number].name
    for one, counted in zip(inquiry.rounds, inquiry.counted_places(), strict=True):
        if not _is_decisive(one, number, counted):
            continue
        outcome, line = one.outcomes[number], one.question.line
        others = ", ".join(inquiry.candidates[i].name for i in sorted(counted) if i != number)
        asked = f"the comparison searched for “{line}” here and at {others} alike"
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
