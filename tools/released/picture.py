"""A picture that a released tool made, as an attachment that is not scaled again."""

from __future__ import annotations

import hashlib
import io
from typing import Any, Final

from PIL import Image

from tts.domain.photo import Box, Photo
from tts.domain.photo_cleaning import DECODER_ERRORS
from tts.domain.tooling import ImageRef, ViewFact
from tts.ports.toolbox import Attachment
from tts.toolkit.spec import Observation

_PILLOW_LIMIT: Final = 178_956_970  # twice PIL.Image.MAX_IMAGE_PIXELS, where Pillow refuses
_MAX_PIXELS: Final = 50_000_000


def check_crop(width: float, height: float) -> None:
    """Refuse a crop that Pillow refuses, or that would take too much memory here.

    Args:
        width, height: of the crop, in pixels; their signs do not count.

    Raises:
        ValueError: more than 178,956,970 pixels, in the words of Pillow; or more than 50 million.
    """
    pixels = abs(width * height)
    if pixels > _PILLOW_LIMIT:
        raise ValueError(
            f"Image size ({int(pixels)} pixels) exceeds limit of {_PILLOW_LIMIT} pixels, "
            "could be decompression bomb DOS attack."
        )
    if pixels > _MAX_PIXELS:
        raise ValueError(f"a crop of more than {_MAX_PIXELS} pixels")


def size_of(data: bytes) -> tuple[int, int] | None:
    """Width and height of an encoded picture; None when it is none.

    Args:
        data: the bytes of the file, in any format that Pillow knows.

    Returns:
        (width, height) in pixels; the pixels themselves are not decoded.
    """
    try:
        with Image.open(io.BytesIO(data)) as picture:
            return picture.size
    except DECODER_ERRORS:
        return None


def attach_picture(data: bytes, size: tuple[int, int], media_type: str, label: str = "") -> tuple[ImageRef, Attachment]:
    """Name the bytes of a picture by their hash.

    Args:
        data: the bytes of the picture's file.
        size: (width, height) in pixels.
        media_type: the format of `data`, such as `image/png`.
        label: what the picture shows, in a few words; empty for none.

    Returns:
        The reference that a message carries, and the bytes behind it.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    image = ImageRef(sha256=sha256, width=size[0], height=size[1], media_type=media_type, label=label)
    return image, Attachment(sha256=sha256, media_type=media_type, data=data)


def png(picture: Image.Image, label: str = "crop") -> tuple[ImageRef, Attachment]:
    """Encode a picture as PNG: little compressed, quickly written, without loss.

    Args:
        picture: what is encoded.
        label: as in `attach_picture`.

    Returns:
        As in `attached`.
    """
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=1)
    return attach_picture(out.getvalue(), picture.size, "image/png", label)


def jpeg(picture: Image.Image) -> tuple[ImageRef, Attachment]:
    """Encode a picture as JPEG of Pillow's usual quality, 75.

    Args:
        picture: what is encoded, in a mode that JPEG has, such as RGB.

    Returns:
        As in `attached`; the label is `crop`.
    """
    out = io.BytesIO()
    picture.save(out, "JPEG")
    return attach_picture(out.getvalue(), picture.size, "image/jpeg", "crop")


def picture_observation(
    picture: tuple[ImageRef, Attachment], facts: tuple[ViewFact, ...], text: str = ""
) -> Observation:
    """Make the result of a tool that shows a picture.

    Args:
        picture: the result of `attach_picture`, `png` or `jpeg`.
        facts: what the picture proves to have been looked at.
        text: what the model reads with the picture; empty for nothing.

    Returns:
        An observation with the picture and its bytes.
    """
    image, attachment = picture
    return Observation(text=text, facts=facts, images=(image,), attachments=(attachment,))


def zoomed_text(box: Any, label: Any) -> str:
    """Write what the model reads of a zoom.

    Args:
        box: any JSON value.
        label: any JSON value; one that is empty, null or 0 is left out.

    Returns:
        One sentence with the box and the label as the model wrote them.
    """
    text = f"Zoomed in on the image to the region {box}"
    return f"{text} with label {label}." if label else f"{text}."


def view_of(photo: Photo, index: int, box: tuple[float, float, float, float]) -> tuple[ViewFact, ...]:
    """Proof that a region was looked at. Empty where it lies outside.

    Args:
        photo: the photo that was looked at.
        index: its number in the request, from 0.
        box: (left, top, right, bottom) in pixels of the photo. Corners may be exchanged; what lies outside is cut off.

    Returns:
        One fact, or none.
    """
    left, right = sorted(min(1.0, max(0.0, side / photo.width)) for side in (box[0], box[2]))
    top, bottom = sorted(min(1.0, max(0.0, side / photo.height)) for side in (box[1], box[3]))
    if left >= right or top >= bottom:
        return ()
    region = Box(x0=left, y0=top, x1=right, y1=bottom, photo=index)
    width, height = round((right - left) * photo.width), round((bottom - top) * photo.height)
    image = ImageRef(sha256=photo.sha256, width=max(1, width), height=max(1, height), box=region)
    return (ViewFact(image=image, source="photo"),)
