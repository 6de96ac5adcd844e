"""The photos that a caller hands over: their bytes, or files that are read when they are sent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

Picture = bytes | Path
Photos = Picture | Sequence[Picture]


async def bytes_of(photos: Photos) -> list[bytes]:
    """The bytes of one photo or several.

    Args:
        photos: the bytes of a picture file, a Path, or a sequence of these, which may be empty. Files are read here, in
            a thread.

    Returns:
        The bytes of each photo, in the order given.

    Raises:
        TypeError: something is neither bytes nor a Path, such as the name of a file.
        OSError: a file cannot be read.
    """
    several = [photos] if isinstance(photos, bytes | str | Path) or not isinstance(photos, Sequence) else photos
    return [await _photo_bytes(photo) for photo in several]


async def _photo_bytes(photo: object) -> bytes:
    if isinstance(photo, Path):
        return await asyncio.to_thread(photo.read_bytes)
    if isinstance(photo, bytes):
        return photo
    raise TypeError(
        f"a photo is bytes or a Path, not {type(photo).__name__}: pass bytes or a Path, such as Path('photo.jpg')"
    )
