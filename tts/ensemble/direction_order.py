"""Orders the directions that a leader named, so that the first siblings get those that differ most."""

from __future__ import annotations

from collections.abc import Sequence

from tts.decision_weights import weights

_PART_LETTERS = 3  # parts of this length are compared: this works for every script, and for other endings of a word
_SAME_DIRECTION_DISTANCE = weights("watch")["same_direction"]  # distance below which two directions are one


def most_distinct(directions: Sequence[str]) -> tuple[str, ...]:
    """The first direction, then each time the one that is farthest from all before it. One that says nearly the same
    as an earlier one is left out.
    """
    if not directions:
        return ()
    parts = {direction: _parts(direction) for direction in directions}
    chosen, remaining = [directions[0]], list(dict.fromkeys(directions[1:]))
    while remaining:
        apart = {one: min(_distance(parts[one], parts[other]) for other in chosen) for one in remaining}
        farthest = max(remaining, key=lambda one: apart[one])
        if apart[farthest] < _SAME_DIRECTION_DISTANCE:
            break
        chosen.append(farthest)
        remaining.remove(farthest)
    return tuple(chosen)


def _distance(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard distance, 0 (the same parts) to 1 (no common part)."""
    return 1.0 - len(one & other) / max(1, len(one | other))


def _parts(text: str) -> frozenset[str]:
    letters = " ".join(text.casefold().split())
    return frozenset(letters[at : at + _PART_LETTERS] for at in range(max(1, len(letters) - _PART_LETTERS + 1)))
