"""Groups that wait until an observer has described the photos for the first one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tts.ports.rollout_groups import GroupRequest


class FirstDescription:
    """Holds back the other groups of a request while its first group asks the observer.

    Groups in other replicas share nothing with the first but what the request carries. If all started at once, each
    would ask the observer for the same photos.
    """

    def __init__(self, wait_s: float) -> None:
        """Args:
        wait_s: Seconds after which they start all the same.
        """
        self._wait_s = wait_s
        self._latest_start_at: float | None = None
        self._held_groups: list[GroupRequest] = []

    def hold(self, groups: Sequence[GroupRequest], described: Mapping[str, str], now: float) -> list[GroupRequest]:
        """Which of `groups` start at once: the first one while a photo is not described, else all.

        Args:
            groups: Groups of one request, in the order in which they would start.
            described: What the observer said of photos so far, by their SHA-256.
            now: Seconds on the clock of the loop.
        """
        if not self._lacks_description(groups, described):
            return list(groups)
        if self._latest_start_at is None:
            self._latest_start_at = now + self._wait_s
        if now >= self._latest_start_at:
            return list(groups)
        asking = 0 if self._held_groups else 1
        self._held_groups += groups[asking:]
        return list(groups[:asking])

    def release(self, described: Mapping[str, str], now: float) -> list[GroupRequest]:
        """The groups that need not wait any longer, with the descriptions. They are removed from this object."""
        late = self._latest_start_at is not None and now >= self._latest_start_at
        if not late and self._lacks_description(self._held_groups, described):
            return []
        return self.release_all(described)

    def release_all(self, described: Mapping[str, str]) -> list[GroupRequest]:
        """Every group that waits, because the first one has ended. They are forgotten here."""
        held = self._held_groups
        self._held_groups = []
        return [with_descriptions(group, described) for group in held]

    @property
    def latest_start(self) -> float | None:
        """When the groups that wait start at the latest, in seconds on the loop's clock. None while none waits."""
        return self._latest_start_at if self._held_groups else None

    def _lacks_description(self, groups: Sequence[GroupRequest], described: Mapping[str, str]) -> bool:
        return any(photo.sha256 not in described for group in groups for photo in group.photos)


def with_descriptions(group: GroupRequest, described: Mapping[str, str]) -> GroupRequest:
    """`group` with what an observer said of the photos so far."""
    return replace(group, context=group.context.model_copy(update={"described": dict(described)}))
