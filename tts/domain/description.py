"""A photo in the words of an observer."""

from __future__ import annotations

from tts.domain.value import Value


class Description(Value):
    """What the observer said of a photo of the request, for whoever asks about the same photo in this request."""

    photo_sha256: str
    text: str
