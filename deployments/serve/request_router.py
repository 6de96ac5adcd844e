"""Where groups of rollouts go: to the replica that was chosen for them, else to those of their photo, else anywhere.

The session id of a call names both (`session_of`). A chosen replica has room for the group
(`deployments.serve.replica_for_group`). A photo has replicas of its own, where its encoding is cached: rendezvous
hashing, bounded to `SPREAD` replicas. When those are busy the others take the call rather than let it wait.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from typing import Any

from deployments.seam.ray import OwnReplicaRouter
from deployments.serve.engine_rooms import keep_reports

ROUTER: Any = "deployments.serve.request_router.PhotoHashRouter"
SPREAD = 2
_CHOSEN_MARK = "@"


class PhotoHashRouter(OwnReplicaRouter):
    """Serve's request router for the Rollout deployment where replicas tell their room or photos have a home."""

    def keep_reports(self, reports: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep what replicas tell of their room."""
        keep_reports(reports)

    def rank(self, named: dict[str, Any], session: str) -> list[list[Any]]:
        """Ranks of replicas: the chosen one, the photo's own one by one, then all the others."""
        photo, _, chosen = session.partition(_CHOSEN_MARK)
        ranks = [[named.pop(chosen)]] if chosen in named else []
        if photo:
            ordered = rendezvous(photo, named)
            ranks += [[replica] for replica in ordered[:SPREAD]]
            others = ordered[SPREAD:]
        else:
            others = random.sample(list(named.values()), len(named))
        return [*ranks, *([others] if others else [])]


def session_of(photo: str, chosen: str) -> str:
    """The session id of a call: the SHA-256 of a photo and the name of a replica, either may be empty."""
    return f"{photo}{_CHOSEN_MARK}{chosen}" if chosen else photo


def rendezvous(key: str, replicas: dict[str, Any]) -> list[Any]:
    """Replicas by falling hash weight for `key`. One that comes or goes moves only the keys it holds."""

    def weight(name: str) -> bytes:
        return hashlib.blake2b(f"{key}|{name}".encode(), digest_size=8).digest()

    return [replicas[name] for name in sorted(replicas, key=weight, reverse=True)]
