"""The files of a bundle of a request that nobody sent."""

import hashlib

from support.made_answers import an_answer
from tts.bundle.bundle_files import Replay, entries_of
from tts.domain.events import Accepted, Answered, Done, PhotoInfo

PHOTO = b"a photo"


def made_entries() -> dict[str, bytes]:
    """One photo, an answer, and the settings of its replay."""
    sha256 = hashlib.sha256(PHOTO).hexdigest()
    photo = PhotoInfo(sha256=sha256, source_sha256="0" * 64, width=8, height=8)
    events = (
        Accepted(seq=1, request_id="loc_1", photos=(photo,), n_parallel=1, depth="auto"),
        Answered(seq=2, answer=an_answer()),
        Done(seq=3, stop_reason="answered"),
    )
    replay = Replay(verifier="consensus", method="fixed", dialect="generic", options={}, calibration={}, state={})
    return entries_of([event.json_bytes() for event in events], {sha256: PHOTO}, {}, replay, "<!doctype html>")
