"""Turns an entry of a ledger into evidence of the answer."""

from __future__ import annotations

from tts.domain.answer import Evidence
from tts.verify.evidence.ledger import Finding, LedgerEntry, RolloutLedger


def numbered_evidence(entry: LedgerEntry, ledger: RolloutLedger, number: int) -> Evidence:
    """The evidence with this number in the answer, from 1. Without a rollout where the ledger is of all of them, and
    where the verifier asked itself."""
    of_rollout = ledger.rollout_id >= 0 and entry.about != "asked"
    return evidence_of(entry, f"e{number}", rollout_id=ledger.rollout_id if of_rollout else None)


def evidence_of(
    entry: LedgerEntry, name: str, *, rollout_id: int | None = None, claim: str = "", supports: bool | None = None
) -> Evidence:
    """The evidence with this name in the answer. `claim` and `supports` replace those of the entry."""
    return Evidence(
        id=name,
        claim=claim or entry.claim,
        supports=entry.supports if supports is None else supports,
        grounded=entry.finding is Finding.SUPPORTED,
        rollout_id=rollout_id,
        call_id=entry.call_id,
        tool=entry.tool,
        quote=entry.quote,
        url=entry.url,
        retrieved_at=entry.retrieved_at,
    )
