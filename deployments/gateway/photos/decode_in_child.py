"""The child program that decodes small photos: `python -m deployments.gateway.photos.decode_in_child FD LIMITS`.

The gateway starts it and talks to it in `decoding_process.py`.

It reads photos from the socket that it inherits as FD, and answers them one after the other until the other end closes.
On the wire, a photo is its length and its bytes. An answer is two lengths, then JSON and the clean copy. The JSON has
the fields of the `Photo`, or its problem, or is null when the photo is not small. The first answer, before any photo,
says that the program is ready.
"""

from __future__ import annotations

import signal
import socket
import struct
import sys
from collections.abc import Mapping

import orjson

from tts.domain.photo import PhotoLimits
from tts.domain.photo_cleaning import load_small_photo
from tts.errors import PhotoError

QUESTION = struct.Struct("<I")
ANSWER = struct.Struct("<II")


def main() -> None:
    """Serve the socket until its other end closes; LIMITS are `PhotoLimits` as JSON."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the gateway says when it is over
    limits = PhotoLimits.model_validate_json(sys.argv[2])
    with socket.socket(fileno=int(sys.argv[1])) as wire, wire.makefile("rb") as questions:
        wire.sendall(_make_frame(None))
        while length := questions.read(QUESTION.size):
            wire.sendall(_decode_to_frame(questions.read(QUESTION.unpack(length)[0]), limits))


def _decode_to_frame(raw: bytes, limits: PhotoLimits) -> bytes:
    try:
        photo = load_small_photo(raw, limits)
    except PhotoError as error:
        return _make_frame({"reason": error.fields["reason"], "detail": error.detail, "status": error.status})
    if photo is None:
        return _make_frame(None)
    fields = {name: getattr(photo, name) for name in ("sha256", "source_sha256", "width", "height")}
    return _make_frame(fields, photo.data)


def _make_frame(fields: Mapping[str, object] | None, data: bytes = b"") -> bytes:
    head = orjson.dumps(fields)
    return ANSWER.pack(len(head), len(data)) + head + data


if __name__ == "__main__":
    main()
