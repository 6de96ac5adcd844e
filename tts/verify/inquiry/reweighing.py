"""Changes the weights of votes after an inquiry. Each vote that is asked about gets the entries of its ledger, too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from tts.verify.consensus.votes import Vote
from tts.verify.evidence.ledger import LedgerEntry
from tts.verify.inquiry.ledger_entries import entries_about
from tts.verify.inquiry.question_choice import Inquiry
from tts.verify.inquiry.rounds import UNCHOSEN


def reweigh_votes(inquiry: Inquiry, votes: Sequence[Vote]) -> list[Vote]:
    """The votes with what questions say about their places. Unchanged, to the object, where they say nothing."""
    weight_changes, admitted = inquiry.weight_changes(), inquiry.admitted_places()
    if not admitted and not any(weight_changes.values()):
        return list(votes)
    others = inquiry.weight_change_of_others()
    entries = {i: list(entries_about(inquiry, i)) for i in range(len(inquiry.candidates))}
    new_votes: list[Vote] = []
    for vote in votes:
        i = next((i for i, one in enumerate(inquiry.candidates) if not one.is_unchosen and vote in one.votes), None)
        if i is None:
            new_votes.append(_reweigh_vote(vote, others, ()) if others else vote)
        else:
            new_votes.append(_reweigh_vote(vote, weight_changes.get(i, 0.0), entries[i]))
    for i in sorted(admitted):
        new_votes += [
            _reweigh_vote(vote, weight_changes[i] + UNCHOSEN, entries[i]) for vote in inquiry.candidates[i].votes
        ]
    return new_votes


def _reweigh_vote(vote: Vote, nats: float, entries: Sequence[LedgerEntry]) -> Vote:
    return replace(vote, weight=vote.weight * math.exp(nats), ledger=vote.ledger.with_entries(entries))
