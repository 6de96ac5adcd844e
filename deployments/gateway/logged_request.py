"""Reads what the run store has of a request: its events until now, and its photos."""

from __future__ import annotations

from collections.abc import Sequence

from deployments.runstore import LogEntry, RunStore
from deployments.runstore.stored_values import events_of
from tts.aio import closing
from tts.domain.events import Event, PhotoInfo
from tts.domain.photo import Photo
from tts.domain.trajectory import Run, fold


async def logged_run(store: RunStore, request_id: str) -> Run:
    """The fold of a log as it is."""
    return fold(await logged_events(store, request_id))


async def logged_events(store: RunStore, request_id: str) -> list[Event]:
    """The events of a log as it is, without waiting for more."""
    return events_of(await logged_entries(store, request_id))


async def logged_entries(store: RunStore, request_id: str) -> list[LogEntry]:
    """The entries of a log as it is, without waiting for more."""
    found = []
    async with closing(store.read(request_id, idle_s=0.0)) as entries:
        async for entry in entries:
            if entry is None:
                break
            found.append(entry)
    return found


async def load_photos(store: RunStore, request_id: str, infos: Sequence[PhotoInfo]) -> tuple[Photo, ...] | None:
    """The stored photos; None when one is gone, or when there are none."""
    photos = []
    for info in infos:
        file = await store.file(request_id, info.sha256)
        if file is None:
            return None
        photos.append(Photo(file.data, info.sha256, info.source_sha256, info.width, info.height, file.media_type))
    return tuple(photos) or None
