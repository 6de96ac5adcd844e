"""Evidence for and against a claimed place that a person can check: rollout, tool call, quote.

The ledger is built as if a rollout had answered with the claimed place, and again with the best place outside it.
Evidence that supports only one of them distinguishes the places. A lookup of words that are in the claim and not in the
photo repeats the claim and is no evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tts.domain.answer import Evidence
from tts.domain.claim import ClaimedPlace
from tts.domain.geo import Circle, LatLon
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.reading import Reading
from tts.domain.tooling import PlaceFact
from tts.domain.trajectory import Trajectory
from tts.verify.assembly.answer_names import names_at
from tts.verify.claims.asked_places import PlaceInQuestion
from tts.verify.claims.claim_weighing import Rival
from tts.verify.claims.claimed_area import contains_point
from tts.verify.evidence.ledger import Finding, LedgerEntry
from tts.verify.evidence.ledger_builder import build_ledger
from tts.verify.evidence.shown_evidence import evidence_of
from tts.verify.evidence.world import World
from tts.verify.inquiry.comparison import Comparison
from tts.verify.inquiry.ledger_entries import entries_about

_MAX_ENTRIES = 12
_DISTINGUISHING_SUBJECTS = frozenset({"point", "name", "phone", "postcode", "script", "domain", "language", "detail"})
_TOWN_SUBJECTS = frozenset({"point", "name", "detail"})
RolloutEntry = tuple[int, LedgerEntry]


def evidence_about(
    trajectories: Sequence[Trajectory],
    readings: Sequence[Reading],
    world: World,
    *,
    place: ClaimedPlace,
    claimed: LatLon,
    rival: Rival | None,
    words: str,
) -> tuple[tuple[Evidence, ...], tuple[Evidence, ...]]:
    """For and against a claim. `claimed` is the likeliest point in the claimed `place`; `words` are those of the claim:
    a lookup in words of it that were not read in the photo repeats it."""
    claim_entries = list(_entries_for_place(trajectories, readings, world, claimed, words, place))
    rival_entries: list[RolloutEntry] = []
    if rival is not None:
        around = Circle(centre=rival.point, radius_km=rival.km)
        rival_place = ClaimedPlace(place="the best place elsewhere", kind="area", areas=(around,))
        rival_entries = list(_entries_for_place(trajectories, readings, world, rival.point, words, rival_place))
    supports = _entries_with(Finding.SUPPORTED, claim_entries)
    shared = {_statement_key(row) for row in supports}
    contradicts = _entries_with(Finding.CONTRADICTED, claim_entries)
    contradicts += [row for row in _entries_with(Finding.SUPPORTED, rival_entries) if _statement_key(row) not in shared]
    return tuple(_make_evidence(supports, "f", supports=True)), tuple(_make_evidence(contradicts, "a", supports=False))


def evidence_of_answers(
    compared: Comparison[PlaceInQuestion], place: ClaimedPlace
) -> tuple[tuple[Evidence, ...], tuple[Evidence, ...]]:
    """For and against a claimed place: the answers to questions that differ between it and the other places."""
    claim_entries: list[LedgerEntry] = []
    other_entries: list[LedgerEntry] = []
    for number, one in enumerate(compared.candidates):
        found = [entry for entry in entries_about(compared, number) if entry.finding is Finding.SUPPORTED]
        (claim_entries if one.place == place else other_entries).extend(found)
    both = {_question_key(entry) for entry in claim_entries} & {_question_key(entry) for entry in other_entries}
    for_it = [entry for entry in claim_entries if _question_key(entry) not in both][:_MAX_ENTRIES]
    against_it = [entry for entry in other_entries if _question_key(entry) not in both][:_MAX_ENTRIES]
    return (
        tuple(evidence_of(entry, f"qf{k}", supports=True) for k, entry in enumerate(for_it, 1)),
        tuple(evidence_of(entry, f"qa{k}", supports=False) for k, entry in enumerate(against_it, 1)),
    )


def _entries_with(finding: Finding, rows: Sequence[RolloutEntry]) -> list[RolloutEntry]:
    """Those about what distinguishes places."""
    return [row for row in rows if row[1].finding is finding and row[1].about in _DISTINGUISHING_SUBJECTS]


def _question_key(entry: LedgerEntry) -> tuple[str, str]:
    return entry.tool, entry.quote


_SUPPORT_TEXTS = {"point": "{quote} lies in the claimed place", "name": "a tool names {quote}"}
_CONTRADICTION_TEXTS = {"point": "{quote} lies elsewhere", "name": "a tool names {quote}"}


def _entries_for_place(
    trajectories: Sequence[Trajectory],
    readings: Sequence[Reading],
    world: World,
    point: LatLon,
    words: str,
    place: ClaimedPlace,
) -> Iterator[RolloutEntry]:
    """What became of the place in every rollout, as if each had answered with a point in it."""
    blank = Hypothesis(point=point, level=Level.CITY)
    names = names_at(point, Level.CITY, blank, world)
    assumed = Hypothesis(
        point=point, level=Level.CITY, country=names["country"], country_code=names["country_code"], city=names["city"]
    )
    for trajectory in trajectories:
        turns = tuple(turn.model_copy(update={"hypotheses": ()}) for turn in trajectory.turns)
        ledger = build_ledger(
            trajectory.model_copy(update={"turns": turns, "answer": assumed}), readings, world, hint=words
        )
        for entry in ledger.entries if ledger is not None else ():
            if entry.about != "point" or _lies_in_place(entry, trajectory, place, world):
                yield trajectory.rollout_id, entry


def _lies_in_place(entry: LedgerEntry, trajectory: Trajectory, place: ClaimedPlace, world: World) -> bool:
    """Whether what a tool found near the point lies in the place itself: a neighbouring town says nothing for it."""
    results = [result for result in trajectory.results if result.call_id == entry.call_id]
    named = [f for r in results for f in r.facts if isinstance(f, PlaceFact) and f.name == entry.quote]
    points = [fact.point for fact in named if fact.point is not None]
    return not points or any(contains_point(place, point, world) for point in points)


def _statement_key(row: RolloutEntry) -> tuple[str, str, str]:
    """The statement behind an entry, whatever place it was held against; a reading is the same in every rollout."""
    entry = row[1]
    kind = "place" if entry.about in _TOWN_SUBJECTS else entry.about
    return kind, entry.quote, entry.tool


def _make_evidence(rows: Sequence[RolloutEntry], letter: str, *, supports: bool) -> Iterator[Evidence]:
    """Each statement once, what a tool or the photo states first."""
    seen_keys: set[tuple[str, str, str]] = set()
    ranked = sorted(rows, key=lambda row: (row[1].about not in _TOWN_SUBJECTS, row[1].call_id is None, row[0]))
    for rollout_id, entry in ranked:
        key = _statement_key((rollout_id, entry))
        if key in seen_keys or len(seen_keys) == _MAX_ENTRIES:
            continue
        seen_keys.add(key)
        words = (_SUPPORT_TEXTS if supports else _CONTRADICTION_TEXTS).get(
            entry.about if entry.call_id else "", entry.claim
        )
        claim = words.format(quote=entry.quote)
        yield evidence_of(entry, f"{letter}{len(seen_keys)}", claim=claim, rollout_id=rollout_id, supports=supports)
