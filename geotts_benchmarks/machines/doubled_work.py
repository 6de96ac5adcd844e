"""Work that was done twice in a run of which the clients and the journal of the engine are known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from geotts_benchmarks.machines.clients import ClientRequest
from geotts_benchmarks.machines.engine_journal import StartedTurn

Way = Literal["begun again", "ended twice", "ran beside"]


@dataclass(frozen=True, slots=True)
class DoubledWork:
    """One thing that was done twice.

    `way`: a turn was `begun again` after its client had seen its end, or `ended twice` in the log that the client read;
    or a request `ran beside` the one that its client knows, although it was asked for once. `rollout` and `turn` are -1
    for a whole request. `first` and `again`: moments of `time.monotonic()`, of the end that was seen (or the first turn
    of the request that the client knows) and of the second time. `processes`: of the engine, that began the turn.
    """

    way: Way
    request_id: str
    rollout: int
    turn: int
    first: float
    again: float
    processes: tuple[int, ...] = ()


def doubled_work(seen: Iterable[ClientRequest], journal: Iterable[StartedTurn]) -> list[DoubledWork]:
    """Everything that was done twice, in the order of its second time.

    A client that gave up before it had an id recognises its request by the hint: that is one request and no second.
    """
    known = tuple(seen)
    by_request: dict[str, list[StartedTurn]] = defaultdict(list)
    for start in journal:
        by_request[start.request_id].append(start)
    found = [
        one for client in known if client.request_id for one in _doubled_turns(client, by_request[client.request_id])
    ]
    found += _doubled_requests(known, {name: starts for name, starts in by_request.items() if starts})
    return sorted(found, key=lambda one: one.again)


def _doubled_turns(client: ClientRequest, starts: Iterable[StartedTurn]) -> Iterable[DoubledWork]:
    """Of the request that a client knows."""
    ends: dict[tuple[int, int], float] = {}
    for rollout, turn, at in client.turns:
        if (rollout, turn) in ends:
            yield DoubledWork("ended twice", client.request_id, rollout, turn, ends[rollout, turn], at)
        ends.setdefault((rollout, turn), at)
    processes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for start in starts:
        turn_of_one = start.rollout, start.turn
        processes[turn_of_one].append(start.process)
        if start.at > ends.get(turn_of_one, start.at):
            by = tuple(processes[turn_of_one])
            yield DoubledWork("begun again", client.request_id, *turn_of_one, ends[turn_of_one], start.at, by)


def _doubled_requests(
    known: Iterable[ClientRequest], by_request: Mapping[str, list[StartedTurn]]
) -> Iterable[DoubledWork]:
    """Requests that no client knows. Of a client that has no id, the first with its hint is its own."""
    named = {client.request_id for client in known if client.request_id}
    mine = {client.asked: client.request_id for client in known if client.asked}
    for request_id, starts in sorted(by_request.items(), key=lambda item: item[1][0].at):
        if request_id in named:
            continue
        asked = starts[0].asked
        if mine.get(asked) == "":
            mine[asked] = request_id
            continue
        first = by_request.get(mine.get(asked, ""), starts)[0].at
        yield DoubledWork("ran beside", request_id, -1, -1, first, starts[0].at, tuple({one.process for one in starts}))
