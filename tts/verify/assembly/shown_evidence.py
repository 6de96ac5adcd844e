"""Turns an entry of a ledger into evidence of the answer."""

from __future__ import annotations

from tts.domain.answer import Evidence
from tts.verify.evidence.ledger import Finding, LedgerEntry, RolloutLedger


def evidence_of(entry: LedgerEntry, ledger: RolloutLedger, number: int) -> Evidence:
    """The evidence with this number in the answer, from 1. Without a rollout where the ledger is of all of them, and
    where the verifier asked itself."""
    of_rollout = ledger.rollout_id >= 0 and entry.about != "asked"
    return Evidence(
        id=f"e{number}",
        claim=entry.claim,
        supports=entry.supports,
        grounded=entry.finding is Finding.SUPPORTED,
        rollout_id=ledger.rollout_id if of_rollout else None,
        call_id=entry.call_id,
        tool=entry.tool,
        quote=entry.quote,
        url=entry.url,
        retrieved_at=entry.retrieved_at,
    )
