"""The first event of a request's log, and the events of its failure."""

from __future__ import annotations

from tts.domain.events import Accepted, Failed, PhotoInfo
from tts.domain.identity import Identity
from tts.domain.request import LocateRequest
from tts.errors import GeoTTSError


def accepted_event(request: LocateRequest, identity: Identity, seed: int) -> Accepted:
    """The first event: the photos by their hashes, what was asked, and the engine that will work on it."""
    return Accepted(
        request_id=request.id,
        photos=tuple(
            PhotoInfo(sha256=p.sha256, source_sha256=p.source_sha256, width=p.width, height=p.height)
            for p in request.photos
        ),
        n_parallel=request.options.n_parallel,
        depth=request.options.depth,
        engine=identity.engine,
        dialect=identity.dialect_of(request.options),
        seed=seed,
        continues=request.continued.request_id if request.continued is not None else "",
    )


def failed_event(error: GeoTTSError) -> Failed:
    """The event of an error that ends the request."""
    return Failed(
        code=error.code,
        status=error.status,
        detail=error.detail,
        causes=error.fields.get("causes", ()),
        retry_after_s=error.fields.get("retry_after_s"),
    )
