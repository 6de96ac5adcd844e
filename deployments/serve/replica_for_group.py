"""Which replica a group of rollouts goes to, so that its engine has room for it.

The figures of the replicas are seconds old. What this process has sent them since is subtracted. Other gateways do the
same without knowing of each other: of two replicas with room, drawn by chance, the roomier one is taken, so that not
all of them choose the same.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from deployments.serve.engine_rooms import PERIOD_S, known_rooms
from deployments.serve.request_router import SPREAD, rendezvous
from tts.errors import FatalError, ReplicaLost
from tts.ports.rollout_groups import GroupRequest
from tts.rollout.expected_size import ExpectedSize
from tts.rollout.group_size import RolloutSize, Room, group_size

_REPORT_DELAY_S = 1.5 * PERIOD_S  # after so long a replica's own report has a group in it
# Serve has replaced a dead replica by then, or its health check has found that a silent one works
_LOST_REPLICA_S = 15.0


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """A group and its replica. `replica` is empty where any will do. `tokens` is what the group is expected to hold
    there in the end.
    """

    replica: str
    request_id: str
    tokens: int
    rollouts: int
    at: float


class GroupPlacing:
    """Cuts requests into groups and places them. One for each process that sends groups."""

    def __init__(
        self,
        *,
        most: int | None,
        by_photo: bool,
        rooms: Callable[[], Mapping[str, Room]] = known_rooms,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Args:
        most: rollouts in a group at most, by configuration.
        by_photo: whether groups about one photo go to its own replicas while these have room.
        rooms: what replicas can take, by name.
        clock: seconds that never go back.
        """
        self._max_rollouts = most
        self._routes_by_photo = by_photo
        self._rooms = rooms
        self._clock = clock
        self._placements: set[Placement] = set()
        self._lost_at: dict[str, float] = {}
        self.expected = ExpectedSize()

    def size(self, group: GroupRequest) -> int | None:
        """How many of its rollouts share a replica; None where no replica has reported its room."""
        if not (rooms := self._remaining_room()):
            return None
        return group_size(len(group.tasks), rooms.values(), self._rollout_size(group), self._max_rollouts)

    @contextmanager
    def place(self, group: GroupRequest) -> Iterator[Placement]:
        """While the group runs, what it takes counts as taken until its replica tells so itself. A replica that is lost
        in the block gets no group for a while: one that hangs still has the room that it reported last.
        """
        size, n = self._rollout_size(group), len(group.tasks)
        placement = Placement(self._choose_replica(group, size), group.context.id, size.tokens(n), n, self._clock())
        self._placements.add(placement)
        try:
            yield placement
        except (ReplicaLost, FatalError):
            self._lost_at[placement.replica] = self._clock()
            raise
        finally:
            self._placements.discard(placement)

    def _rollout_size(self, group: GroupRequest) -> RolloutSize:
        return self.expected.size_of(len(group.photos), group.limits)

    def _remaining_room(self) -> dict[str, Room]:
        """The rooms, less what was sent there and is not reported yet."""
        now = self._clock()
        self._lost_at = {name: at for name, at in self._lost_at.items() if at > now - _LOST_REPLICA_S}
        rooms = {name: room for name, room in self._rooms().items() if name not in self._lost_at}
        since = now - _REPORT_DELAY_S
        for placement in self._placements:
            if placement.at > since and (room := rooms.get(placement.replica)) is not None:
                rooms[placement.replica] = replace(
                    room,
                    tokens=None if room.tokens is None else room.tokens - placement.tokens,
                    slots=None if room.slots is None else max(0, room.slots - placement.rollouts),
                )
        return rooms

    def _choose_replica(self, group: GroupRequest, size: RolloutSize) -> str:
        """A replica with room: where the request has its prompt already, else where the photo has its home.

        Groups that have to read the prompt first go where none of the request is. Without room anywhere, the roomiest.
        """
        rooms = self._remaining_room()
        here = {placement.replica for placement in self._placements if placement.request_id == group.context.id}
        fitting = [name for name, room in rooms.items() if room.n_fitting(size, len(group.tasks)) >= len(group.tasks)]
        if group.warm and (known := [name for name in fitting if name in here]):
            return known[0]
        apart = [name for name in fitting if name not in here]
        if self._routes_by_photo:
            homes = rendezvous(group.photos[0].sha256, {name: name for name in rooms})[:SPREAD]
            if near := [name for name in homes if name in apart]:
                return str(near[0])
        if apart:
            return max(random.sample(apart, min(2, len(apart))), key=lambda name: _room_of(rooms[name]))
        others = [name for name in rooms if name not in here] or list(rooms)
        return max(others, key=lambda name: _room_of(rooms[name]), default="")


def _room_of(room: Room) -> tuple[float, float]:
    return (
        float("inf") if room.tokens is None else room.tokens,
        float("inf") if room.slots is None else room.slots,
    )
