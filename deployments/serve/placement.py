"""Photo-hash affinity, an option: queries about the same photo meet on the same replica, where its encoding is cached.

Rendezvous hashing over the session id, bounded: a photo lives on at most `spread` replicas, and when all of those are
busy the others take it rather than let it wait. Requests without a session id go to random replicas.
"""

from __future__ import annotations

import hashlib
import random
from typing import Any

from deployments.seam.ray import OwnReplicaRouter

ROUTER: Any = "deployments.serve.placement.PhotoHashRouter"
DEFAULT_SPREAD = 2


class PhotoHashRouter(OwnReplicaRouter):
    """Serve's request router for the Rollout deployment when `placement` is `photo_hash`."""

    _spread = DEFAULT_SPREAD

    def initialize_state(self, **kwargs: Any) -> None:
        """Called by Serve. `spread`: how many replicas a photo has of its own."""
        self._spread = int(kwargs.get("spread", DEFAULT_SPREAD))

    async def choose_replicas(self, candidate_replicas: list[Any], pending_request: Any = None) -> list[list[Any]]:
        """Ranks of replicas: the photo's own one by one, then all the others."""
        session = pending_request.metadata.session_id if pending_request is not None else ""
        if not session:
            return [random.sample(candidate_replicas, len(candidate_replicas))]
        ordered = rendezvous(session, {replica.replica_id.unique_id: replica for replica in candidate_replicas})
        home, others = ordered[: self._spread], ordered[self._spread :]
        return [*([replica] for replica in home), *([others] if others else [])]


def rendezvous(key: str, replicas: dict[str, Any]) -> list[Any]:
    """Replicas by falling hash weight for `key`. One that comes or goes moves only the keys it holds."""

    def weight(name: str) -> bytes:
        return hashlib.blake2b(f"{key}|{name}".encode(), digest_size=8).digest()

    return [replicas[name] for name in sorted(replicas, key=weight, reverse=True)]
