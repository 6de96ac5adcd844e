"""Prompt texts of testing rollouts: the places in question, without saying which one is claimed."""

from __future__ import annotations

from collections.abc import Sequence

from tts.domain.claim import ClaimedPlace


def testing_text(places: Sequence[ClaimedPlace]) -> str:
    """A paragraph to follow the question; empty where nothing is tested."""
    if not places:
        return ""
    if len(places) == 1:
        return (
            f"One place is in question: {places[0].place}. Find out whether the photo shows it. Look for what could be "
            "true only there, and try to prove that it is not there. If it is another place, answer with that."
        )
    named = "; ".join(place.place for place in places)
    return (
        f"These places are in question: {named}. Find out which of them the photo shows. Look for what could be true "
        "in only one of them, and try to prove each of them wrong. If it is another place, answer with that."
    )
