"""From untrusted bytes to a `Photo`: checked, upright, RGB, re-encoded, and without metadata.

All hardening of picture bytes lives here. `load_photo` is the only way in: it checks size and pixel count *before*
decoding, decodes one frame, applies the EXIF orientation, flattens transparency and wide modes, and writes a fresh
JPEG. Re-encoding (rather than cutting segments out) is what guarantees that no EXIF, XMP, IPTC, thumbnail, comment or
trailer survives. Nothing here ever sees a file name.
"""

from __future__ import annotations

import hashlib
import io
import logging
from typing import Final

import numpy as np
import pillow_heif
from PIL import Image, ImageOps

from tts.domain.photo import Photo, PhotoLimits, PhotoProblem
from tts.errors import PhotoError

pillow_heif.register_heif_opener()
logging.getLogger("PIL").setLevel(logging.WARNING)

FORMATS: Final = ("JPEG", "PNG", "WEBP", "TIFF", "GIF", "BMP", "HEIF", "AVIF")
_MAX_JPEG_SCANS = 128  # progressive JPEGs with thousands of scans cost minutes to decode
_JPEG_QUALITY = 93
_JPEG_START = b"\xff\xd8"
_SMALL_BYTES = 32 * 1024
_SMALL_PIXELS = 640 * 480


def load_photo(raw: bytes, limits: PhotoLimits | None = None) -> Photo:
    """Turn untrusted bytes into a `Photo`. CPU-bound (20 to 200 ms): call it in a thread.

    Raises:
        PhotoError: with a reason from `PhotoProblem`; nothing else escapes.
    """
    return OpenedPhoto(raw, limits or PhotoLimits()).clean()


def may_be_small(raw: bytes) -> bool:
    """Whether these bytes may be a small photo: a JPEG of few bytes. Nothing is decoded."""
    return len(raw) <= _SMALL_BYTES and raw.startswith(_JPEG_START)


def load_small_photo(raw: bytes, limits: PhotoLimits) -> Photo | None:
    """As `load_photo` where that takes some 3 ms at most: a JPEG of few scans, small in bytes and in pixels. None for
    any other, which is not decoded.
    """
    if not may_be_small(raw):
        return None
    opened = OpenedPhoto(raw, limits)
    return opened.clean() if opened.is_small else None


class OpenedPhoto:
    """Untrusted bytes whose header has been read and is within the limits; their pixels are not decoded yet."""

    def __init__(self, raw: bytes, limits: PhotoLimits) -> None:
        """Raises PhotoError."""
        self._raw = raw
        self._limits = limits
        self._picture = _open_checked(raw, limits)

    @property
    def is_small(self) -> bool:
        """Whether bytes that may be a small photo are one: few pixels, and not a progressive JPEG."""
        picture = self._picture
        return picture.width * picture.height <= _SMALL_PIXELS and "progressive" not in picture.info

    def clean(self) -> Photo:
        """Decode and re-encode, once. CPU-bound: 3 ms for a small photo, up to 200 ms for others. Raises PhotoError."""
        return _clean(self._raw, self._picture, self._limits)


def _open_checked(raw: bytes, limits: PhotoLimits) -> Image.Image:
    """The picture with its header read and held against the limits."""
    if not raw:
        raise PhotoError.from_reason(PhotoProblem.EMPTY, "the photo is empty (0 bytes)")
    if len(raw) > limits.max_bytes:
        raise PhotoError.from_reason(
            PhotoProblem.TOO_LARGE,
            f"the photo has {len(raw):,} bytes; at most {limits.max_bytes:,} are accepted: scale it down",
            413,
        )
    picture = _open_picture(raw)
    width, height = picture.size
    if min(width, height) < limits.min_side:
        raise PhotoError.from_reason(
            PhotoProblem.TOO_SMALL, f"the photo is {width}x{height} pixels; both sides need {limits.min_side}"
        )
    if width * height > limits.max_pixels or max(width, height) > limits.max_side:
        raise PhotoError.from_reason(
            PhotoProblem.TOO_MANY_PIXELS,
            f"the photo is {width}x{height} pixels; at most {limits.max_pixels:,} in all and "
            f"{limits.max_side:,} a side are accepted: scale it down",
            413,
        )
    return picture


def _clean(raw: bytes, opened: Image.Image, limits: PhotoLimits) -> Photo:
    try:
        picture = _decode(raw, opened, limits)
    except PhotoError:
        raise
    except MemoryError as error:
        raise PhotoError.from_reason(PhotoProblem.TOO_MANY_PIXELS, "the photo does not fit into memory", 413) from error
    except DECODER_ERRORS as error:
        raise PhotoError.from_reason(
            PhotoProblem.DAMAGED, "the photo is damaged or cut off: it could not be decoded"
        ) from error
    picture.info = {}  # Pillow would write comments and profiles it finds here back into the copy
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=_JPEG_QUALITY, subsampling=0)
    data = out.getvalue()
    return Photo(
        data=data,
        sha256=hashlib.sha256(data).hexdigest(),
        source_sha256=hashlib.sha256(raw).hexdigest(),
        width=picture.width,
        height=picture.height,
    )


# What decoders raise on hostile input. Pillow's plugins leak parser errors of every kind.
DECODER_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    EOFError,
    OverflowError,
    RuntimeError,
    ZeroDivisionError,
    NotImplementedError,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)


def _decode(raw: bytes, picture: Image.Image, limits: PhotoLimits) -> Image.Image:
    width, height = picture.size
    if picture.format in ("JPEG", "MPO"):
        if raw.count(b"\xff\xda") > _MAX_JPEG_SCANS:
            raise PhotoError.from_reason(PhotoProblem.DAMAGED, "the JPEG has more scans than any camera writes")
        shrink = (limits.keep_pixels / (width * height)) ** 0.5
        if shrink < 1:
            picture.draft("RGB", (int(width * shrink), int(height * shrink)))
    picture.seek(0)
    picture.load()
    return _scale_to_fit(_to_rgb(_turn_upright(picture)), limits.keep_pixels)


def _turn_upright(picture: Image.Image) -> Image.Image:
    """Turned as its metadata says; unreadable metadata says nothing, and the pixels are still good."""
    try:
        if picture.mode != "RGB":
            return ImageOps.exif_transpose(picture)
        ImageOps.exif_transpose(picture, in_place=True)  # a copy costs as much as decoding
    except DECODER_ERRORS:
        pass
    return picture


def _open_picture(raw: bytes) -> Image.Image:
    try:
        return Image.open(io.BytesIO(raw), formats=FORMATS)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise PhotoError.from_reason(
            PhotoProblem.TOO_MANY_PIXELS, "the photo has too many pixels: scale it down", 413
        ) from error
    except DECODER_ERRORS as error:
        raise PhotoError.from_reason(
            PhotoProblem.NOT_AN_IMAGE,
            "these bytes are not a picture we read; send JPEG, PNG, WebP, TIFF, GIF, BMP, HEIC or AVIF",
            415,
        ) from error


def _to_rgb(picture: Image.Image) -> Image.Image:
    """Any Pillow mode to 8-bit RGB; transparency is laid on white, wide integers and floats are scaled."""
    if picture.mode == "RGB":
        return picture
    if picture.mode.startswith("I;16"):
        return Image.fromarray((np.asarray(picture) >> 8).astype(np.uint8)).convert("RGB")
    if picture.mode in ("I", "F"):
        wide = np.nan_to_num(np.asarray(picture, dtype=np.float64))
        span = float(wide.max() - wide.min()) or 1.0
        return Image.fromarray(((wide - wide.min()) * (255.0 / span)).astype(np.uint8)).convert("RGB")
    if picture.has_transparency_data:
        layer = picture.convert("RGBA")
        flat = Image.new("RGB", layer.size, (255, 255, 255))
        flat.paste(layer, mask=layer.getchannel("A"))
        return flat
    return picture.convert("RGB")


def _scale_to_fit(picture: Image.Image, keep_pixels: int) -> Image.Image:
    scale = (keep_pixels / (picture.width * picture.height)) ** 0.5
    if scale >= 1:
        return picture
    size = (max(1, int(picture.width * scale)), max(1, int(picture.height * scale)))
    return picture.resize(size, Image.Resampling.LANCZOS)
