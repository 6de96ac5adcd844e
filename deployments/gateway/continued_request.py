"""Makes a new request from an earlier one that its caller continues (ADR 0031).

The earlier log is not changed. The new request has a copy of its photos, its options with what the caller adds, what
was found, and results of its tools: so the earlier one may be erased at any time afterwards.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from deployments.gateway.claimed_places import look_up_places
from deployments.gateway.logged_request import load_photos, logged_run
from deployments.gateway.wrong_field import wrong_field
from deployments.runstore import RunMeta, RunStore
from deployments.runstore.stored_values import value_of
from deployments.wiring.parts import clue_reader
from geotts_client.continue_options import ContinueOptions
from geotts_client.file_claim import FileClaim
from tts.clues.claimed_places import places_of
from tts.clues.clue_reader import ClueReader
from tts.clues.hint_names import stated_in
from tts.clues.rejected_place import rejected_place
from tts.clues.ruled_out_places import labels
from tts.domain.call_key import call_key
from tts.domain.claim import CheckOptions, ClaimedPlace
from tts.domain.earlier_request import EarlierRequest, KeptResult, answered_place
from tts.domain.identity import Identity
from tts.domain.photo import Photo
from tts.domain.request import LocateOptions
from tts.domain.tooling import TextFact, ToolErrorKind, ToolResult, ViewFact
from tts.domain.trajectory import Run
from tts.errors import RequestError

_MAX_RESULTS = 512
_MAX_FILE_BYTES = 16 * 2**20  # of pictures that tools made, together
_MAX_FINDINGS = 8
_MAX_HINT_CHARS = 2000  # as in `LocateOptions`
_MAX_QUOTE_CHARS = 80
_REJECTION = re.compile(
    r"(?:no\b[,.!\s]*)?(?:(?:it|that|this)(?:['’]s|\s+is|\s+was)?\s+)?(?:not\s+(?:there|it|right|correct)|wrong)[.!\s]*",
    re.IGNORECASE,
)  # a fact that only says that the earlier answer is wrong


class StillRunning(RequestError):
    """A request is continued when it has ended."""

    code = "still-running"
    status = 409


class PhotosGone(RequestError):
    """The photos of the earlier request are not kept any more: they have to be sent again."""

    code = "photos-gone"
    status = 410


@dataclass(frozen=True, slots=True)
class Continuation:
    """All that a new request has from the earlier one. `added` counts photos that are sent with it."""

    options: LocateOptions
    photos: tuple[Photo, ...]
    continued: EarlierRequest
    kept: tuple[KeptResult, ...]
    file_claims: tuple[FileClaim, ...] = ()


async def continuation_of(
    store: RunStore, meta: RunMeta, asked: ContinueOptions, identity: Identity, data_dir: str | None, *, added: int
) -> Continuation:
    """Read the earlier request and put together what the next one starts from; `added` photos come with it.

    Raises:
        StillRunning: the earlier request has not ended.
        PhotosGone: its photos are not kept any more, and none are sent.
        RequestError: what the caller adds names no place, or does not fit.
    """
    if await store.is_open(meta.request_id):
        raise StillRunning("this request is still running: wait for its end or cancel it, then continue it")
    run = await logged_run(store, meta.request_id)
    earlier = earlier_options(meta)
    options, why = await asyncio.to_thread(_next_options, earlier, asked, run, clue_reader(data_dir), added)
    photos = await load_photos(store, meta.request_id, run.accepted.photos if run.accepted is not None else ())
    if photos is None and not added:
        raise PhotosGone("the photo of this request is no longer stored: send it again in `image`")
    dialect = identity.dialect_of(options)
    keeps_results = run.accepted is not None and run.accepted.dialect == dialect and photos is not None
    moved = options.within != earlier.within
    kept = await kept_results(store, meta.request_id, run, moved=moved) if keeps_results else ()
    continued = EarlierRequest(
        request_id=meta.request_id,
        before=None if run.answer is None else answered_place(run.answer),
        found=_earlier_findings(run),
        why=tuple(why),
        keeps=("photos" if moved else "all") if keeps_results else "",
    )
    claims = run.answer.file_claims if run.answer is not None else ()
    bare = tuple(claim.model_copy(update={"distance_km": None}) for claim in claims)
    return Continuation(options, photos or (), continued, kept, bare)


def earlier_options(meta: RunMeta) -> LocateOptions:
    """The options of a request as they were kept. Raises RequestError for one of a release that kept none."""
    if not meta.options:
        raise RequestError("an older release made this request and did not store its options: it cannot be continued")
    model = CheckOptions if json.loads(meta.options).get("claim") else LocateOptions
    return value_of(model, meta.options)


async def kept_results(store: RunStore, request_id: str, run: Run, *, moved: bool) -> tuple[KeptResult, ...]:
    """The tool results of the earlier request, with the pictures that still exist. After a change of the area
    (`moved`), only what depends on the photos alone."""
    photos = {photo.sha256 for photo in run.accepted.photos} if run.accepted is not None else set()
    results_by_key: dict[bytes, KeptResult] = {}
    bytes_left = _MAX_FILE_BYTES
    for one in _answered_calls(run):
        key = call_key(one.call)
        if len(results_by_key) >= _MAX_RESULTS or key in results_by_key or not _may_be_kept(one.result, moved=moved):
            continue
        wanted = {image.sha256 for image in one.result.images} | _viewed_pictures(one.result)
        found = [await store.file(request_id, sha256) for sha256 in sorted(wanted - photos)]
        files = tuple((file.sha256, file.media_type, file.data) for file in found if file is not None)
        bytes_left -= sum(len(data) for _, _, data in files)
        if len(files) == len(found) and bytes_left >= 0:
            results_by_key[key] = KeptResult(one.call, one.result, files)
    return tuple(results_by_key.values())


def _answered_calls(run: Run) -> Iterator[KeptResult]:
    for trajectory in run.trajectories:
        for turn in trajectory.turns:
            results = {result.call_id: result for result in turn.results}
            for call in turn.calls:
                if (result := results.get(call.id)) is not None:
                    yield KeptResult(call, result)


def _may_be_kept(result: ToolResult, *, moved: bool) -> bool:
    if result.failure is not None and result.failure.kind is not ToolErrorKind.NOT_FOUND:
        return False
    return not moved or (bool(result.facts) and all(isinstance(fact, TextFact | ViewFact) for fact in result.facts))


def _viewed_pictures(result: ToolResult) -> set[str]:
    return {fact.image.sha256 for fact in result.facts if isinstance(fact, ViewFact)}


def _next_options(
    earlier: LocateOptions, additions: ContinueOptions, run: Run, reader: ClueReader, added: int
) -> tuple[LocateOptions, list[str]]:
    """The options of the next request, and what the caller added, in plain words."""
    changed: dict[str, object] = {"resume_grace_s": additions.resume_grace_s}
    changed |= {name: value for name in ("deadline_s", "include") if (value := getattr(additions, name)) is not None}
    why: list[str] = []
    fact = (additions.fact or "").strip()
    if _REJECTION.fullmatch(fact):
        fact, additions = "", additions.model_copy(update={"fact": None, "not_there": additions.not_there or True})
    rejected = [*_rejected_places(additions, run, reader, added), *_denied_places(fact, reader)]
    if rejected:
        kept = dict.fromkeys((*earlier.not_there, *rejected))
        changed["not_there"] = tuple(kept)
        why.append(f"you ruled out {labels(rejected)}")
    if fact and not _denied_places(fact, reader):
        changed["hint"] = _join_hint(earlier.hint, fact)
        why.append(f"you said: “{fact if len(fact) <= _MAX_QUOTE_CHARS else fact[: _MAX_QUOTE_CHARS - 1] + '…'}”")
    if additions.within is not None:
        changed["within"] = additions.within
        why.append("you named an area")
    if additions.taken_at:
        changed["taken_at"] = (*earlier.taken_at, *additions.taken_at)
    if added:
        why.append("you added a photo" if added == 1 else f"you added {added} photos")
    return earlier.model_copy(update=changed), why


def _rejected_places(additions: ContinueOptions, run: Run, reader: ClueReader, added: int) -> Iterable[ClaimedPlace]:
    """The places that `not_there` names; also the earlier answer if the caller adds nothing at all."""
    nothing_added = additions.not_there is None and not additions.fact and additions.within is None and not added
    if additions.not_there is True or nothing_added:
        if run.answer is None:
            raise wrong_field("not_there", "the earlier request has no answer; name the place to rule out")
        try:
            return (rejected_place(run.answer, reader),)
        except ValueError as error:
            raise wrong_field("not_there", str(error)) from error
    statements = additions.not_there if isinstance(additions.not_there, tuple) else ()
    return look_up_places("not_there", statements, reader)


def _denied_places(fact: str, reader: ClueReader) -> list[ClaimedPlace]:
    """The places of a fact that is nothing but a denial: “not in Italy”."""
    stated = stated_in(fact, reader) if fact else None
    if stated is None or not stated.denied:
        return []
    return [places_of(name, fact, reader, near=False) for name in stated.names]


def _join_hint(hint: str | None, fact: str) -> str:
    joined = f"{hint}\n{fact}" if hint else fact
    if len(joined) > _MAX_HINT_CHARS:
        raise wrong_field(
            "fact",
            f"with the hint and facts of the earlier request it has more than {_MAX_HINT_CHARS} characters: shorten it",
        )
    return joined


def _earlier_findings(run: Run) -> tuple[str, ...]:
    """The evidence for and against the earlier answer."""
    if run.answer is None:
        return ()
    findings = [text.text for text in run.answer.contradictions]
    findings += [one.claim if one.supports else f"against it: {one.claim}" for one in run.answer.evidence]
    return tuple(dict.fromkeys(findings))[:_MAX_FINDINGS]
