"""Decompress gzip and deflate with a limit on the output, so that a small reply cannot fill the memory."""

from __future__ import annotations

import zlib

from tts.errors import FetchError, FetchErrorKind

ACCEPTED = "gzip, deflate"
_GZIP_WBITS = 16 + zlib.MAX_WBITS
_ZLIB_WBITS = zlib.MAX_WBITS


class Inflater:
    """Feeds on parts of a body in one content coding; never holds more than `max_bytes` of output."""

    def __init__(self, coding: str, max_bytes: int) -> None:
        self._remaining_bytes = max_bytes
        self._make_decompressor = _make_decompressor(coding.strip().lower())
        self._raw_fallback = coding.strip().lower() == "deflate"

    def feed(self, part: bytes) -> bytes:
        """Raises FetchError TOO_LARGE beyond the bound, BAD_CONTENT for a corrupt stream."""
        if self._make_decompressor is None:
            out = part
        else:
            out = self._inflate(part)
            if self._make_decompressor.unconsumed_tail:
                raise _too_large_error()
        self._remaining_bytes -= len(out)
        if self._remaining_bytes < 0:
            raise _too_large_error()
        return out

    def _inflate(self, part: bytes) -> bytes:
        assert self._make_decompressor is not None
        try:
            out = self._make_decompressor.decompress(part, self._remaining_bytes + 1)
        except zlib.error:
            if not self._raw_fallback:
                raise FetchError("the reply is not compressed as it says", kind=FetchErrorKind.BAD_CONTENT) from None
            self._raw_fallback = False  # some servers send raw deflate under that name (RFC 9110, 8.4.1.2)
            self._make_decompressor = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._inflate(part)
        self._raw_fallback = False
        return out

    def finish(self) -> None:
        """Raises FetchError when the compressed stream ended early."""
        if self._make_decompressor is not None and not self._make_decompressor.eof:
            raise FetchError("the compressed reply ended early", kind=FetchErrorKind.BROKEN)


def _make_decompressor(coding: str) -> zlib._Decompress | None:
    if coding in ("", "identity"):
        return None
    if coding in ("gzip", "x-gzip"):
        return zlib.decompressobj(_GZIP_WBITS)
    if coding == "deflate":
        return zlib.decompressobj(_ZLIB_WBITS)
    raise FetchError("the reply is in a content coding that was not asked for", kind=FetchErrorKind.BAD_CONTENT)


def _too_large_error() -> FetchError:
    return FetchError("the reply is too large once decompressed", kind=FetchErrorKind.TOO_LARGE)
