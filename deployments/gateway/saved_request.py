"""Saves what another gateway needs to continue a request (ADR 0045), and loads it there.

It is kept while the request is open, in a run store that gateways share: the request itself, and the last two
checkpoints of each rollout. The photos, the pictures of tools and the events are there already.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import ConfigDict

from deployments.gateway.continued_request import kept_results
from deployments.gateway.logged_request import load_photos, logged_events, logged_run
from deployments.runstore import RunMeta, RunStore
from deployments.runstore.stored_values import value_of
from geotts_client.file_claim import FileClaim
from tts.domain.claim import CheckOptions, ClaimedPlace
from tts.domain.earlier_request import EarlierRequest, KeptResult
from tts.domain.request import LocateOptions, LocateRequest
from tts.domain.trace_context import TraceContext
from tts.domain.value import Value
from tts.ensemble.resumed_request import ResumedRequest
from tts.ports.rollout_groups import Checkpoint

T = TypeVar("T")
_REQUEST_FILE = "request"
_KEPT_FIELDS = ("options", "claimed", "continued", "trace", "file_claims", "followed")  # as the request has them
_CHECKPOINT_PREFIX = "checkpoint/"
_MIN_REMAINING_S = 5.0  # so that what was found before can still become an answer


class SavedRequest(Value):
    """A request without its photos. `deadline_at`: Unix seconds. `deadline_s`: seconds that it had when it began.
    `attended`: it was begun by somebody who reads it.
    """

    model_config = ConfigDict(extra="ignore")

    options: CheckOptions | LocateOptions
    claimed: tuple[ClaimedPlace, ...] = ()
    continued: EarlierRequest | None = None
    trace: TraceContext | None = None
    file_claims: tuple[FileClaim, ...] = ()
    followed: bool = True
    attended: bool = True
    deadline_at: float
    deadline_s: float | None = None


@dataclass(frozen=True, slots=True)
class TakenOver:
    """A request to go on with, and the seconds that it has left."""

    request: LocateRequest
    resumed: ResumedRequest
    remaining_s: float


async def save_request(store: RunStore, request: LocateRequest, *, attended: bool, deadline_s: float) -> None:
    """Keep the request. Raises StoreUnavailable."""
    kept = {name: getattr(request, name) for name in _KEPT_FIELDS}
    saved = SavedRequest(**kept, attended=attended, deadline_at=time.time() + deadline_s, deadline_s=deadline_s)
    await store.save(request.id, _REQUEST_FILE, saved.model_dump_json().encode())


async def save_checkpoint(store: RunStore, request_id: str, checkpoint: Checkpoint) -> None:
    """Keep the checkpoint beside the one before it, which counts until the log has the end of this turn.

    Raises:
        StoreUnavailable: the store does not answer.
    """
    name = f"{_CHECKPOINT_PREFIX}{checkpoint.rollout_id}/{checkpoint.turn % 2}"
    await store.save(request_id, name, checkpoint.model_dump_json().encode())


def before_second_checkpoints(batch: Sequence[T]) -> Iterator[Sequence[T]]:
    """The batch in parts, each with at most one checkpoint of a rollout.

    The store keeps two of a rollout. Between two that are saved, the log must get the end of the first one's turn: else
    neither would count for a gateway that takes the request over, and the one that does would be gone.
    """
    part: list[T] = []
    rollouts: set[int] = set()
    for item in batch:
        if isinstance(item, Checkpoint):
            if item.rollout_id in rollouts:
                yield part
                part, rollouts = [], set()
            rollouts.add(item.rollout_id)
        part.append(item)
    yield part


async def load_request(store: RunStore, meta: RunMeta) -> TakenOver | None:
    """The saved state; None if it was not saved, or if no client can be waiting for the answer.

    Somebody can be waiting who asked without reading, who has a grace time to come back, or an idempotency key.
    """
    saved_files = await store.saved_files(meta.request_id)
    if _REQUEST_FILE not in saved_files:
        return None
    saved = value_of(SavedRequest, saved_files[_REQUEST_FILE])
    if saved.attended and meta.grace_s <= 0 and not meta.claim:
        return None
    events = await logged_events(store, meta.request_id)
    accepted = next((event for event in events if event.type == "accepted"), None)
    photos = await load_photos(store, meta.request_id, accepted.photos if accepted is not None else ())
    if photos is None:
        return None
    checkpoints = [
        value_of(Checkpoint, data) for name, data in saved_files.items() if name.startswith(_CHECKPOINT_PREFIX)
    ]
    files = await _load_pictures(store, meta.request_id, checkpoints, {photo.sha256 for photo in photos})
    results = await _load_kept_results(store, saved.continued)
    fields = {name: getattr(saved, name) for name in _KEPT_FIELDS}
    request = LocateRequest(meta.request_id, photos, kept=results, **fields)
    resumed = ResumedRequest.from_log(events, checkpoints, files)
    return TakenOver(request, resumed, max(_MIN_REMAINING_S, _remaining_s(saved, resumed.elapsed_s)))


def _remaining_s(saved: SavedRequest, elapsed_s: float) -> float:
    """By the wall clock, which may have been wrong or set since; never more than was left at the last event."""
    by_clock = saved.deadline_at - time.time()
    return by_clock if saved.deadline_s is None else min(by_clock, saved.deadline_s - elapsed_s)


async def _load_kept_results(store: RunStore, continued: EarlierRequest | None) -> tuple[KeptResult, ...]:
    """Results of tools in the earlier request, as far as they are still there: a call too many is no harm."""
    if continued is None or not continued.keeps:
        return ()
    run = await logged_run(store, continued.request_id)
    return await kept_results(store, continued.request_id, run, moved=continued.keeps == "photos")


async def _load_pictures(
    store: RunStore, request_id: str, checkpoints: Iterable[Checkpoint], photos: set[str]
) -> dict[str, bytes]:
    """The pictures of tools in the conversations. A missing picture is left out, as after the loss of a replica."""
    shown = {image.sha256 for saved in checkpoints for message in saved.messages for image in message.images}
    files = {}
    for sha256 in sorted(shown - photos):
        if (file := await store.file(request_id, sha256)) is not None:
            files[sha256] = file.data
    return files
