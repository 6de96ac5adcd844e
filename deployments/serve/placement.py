"""Photo-hash affinity, an option: queries about the same photo meet on the same replica, where its encoding is cached.

Rendezvous hashing over the session id, bounded: a photo lives on at most `spread` replicas, and when all of those are
busy the others take it rather than let it wait. Requests without a session id go to random replicas.

Serve files pending requests under an id that all calls of one incoming request share, so of several parallel calls some
would wait for ever; matching the metadata object itself gives each call its own replica (ADR 0011).
"""

from __future__ import annotations

import hashlib
import random
from typing import Any

from ray.serve._private.request_router.request_router import RequestRouter

ROUTER: Any = "deployments.serve.placement.PhotoHashRouter"
DEFAULT_SPREAD = 2


class PhotoHashRouter(RequestRouter):
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

    def _fulfill_next_pending_request(self, replica: Any, request_metadata: Any = None) -> None:
        for pending in self._pending_requests_to_fulfill:
            if pending.metadata is request_metadata and not pending.future.done():
                self._cancel_routing_task_for_pending_request(pending)
                self._record_queue_wait_time(pending)
                pending.future.set_result(replica)
                self._remove_pending_request_from_indices(pending)
                return


def rendezvous(key: str, replicas: dict[str, Any]) -> list[Any]:
    """Replicas by falling hash weight for `key`. One that comes or goes moves only the keys it holds."""

    def weight(name: str) -> bytes:
        return hashlib.blake2b(f"{key}|{name}".encode(), digest_size=8).digest()

    return [replicas[name] for name in sorted(replicas, key=weight, reverse=True)]
