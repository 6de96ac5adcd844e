"""Sizes and filters of photos and crops that left a profile, against the values of the corpus."""

from __future__ import annotations

import io
import json
import math
import re
from typing import Final

from PIL import Image

from geotts_benchmarks.released_rows.corpus import Row
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs
from geotts_benchmarks.released_rows.sampling.shipped_profile import ShippedProfile, grainy_photo, pictures_in
from tts.domain.photo import Photo

_FILTERS: Final = ("BICUBIC", "BILINEAR", "LANCZOS")
_QUALITY: Final = re.compile(r"JPEG quality (\d+)")
_LARGE_SIZE: Final = (2000, 1500)


def scale_photo(photo: Photo, size: tuple[int, int], how: str, quality: int) -> bytes:
    """The photo as the released code scales and encodes it."""
    out = io.BytesIO()
    photo.image().resize(size, Image.Resampling[how]).save(out, "JPEG", quality=quality)
    return out.getvalue()


def filter_of(resized: Image.Image, source: Image.Image) -> str:
    """The filter whose result is nearest to what was sent."""

    def distance(how: str) -> float:
        mine = source.resize(resized.size, Image.Resampling[how])
        return sum(abs(a - b) for a, b in zip(mine.tobytes(), resized.tobytes(), strict=True))

    return min(_FILTERS, key=distance)


def check_note(row: Row, photo: Photo, size: tuple[int, int], picture: bytes, note: str) -> RowResult:
    """Size, filter and quality of a photo that was sent; a note that names no filter leaves Pillow's, bicubic."""
    how = next((name for name in _FILTERS if name in note.upper()), "BICUBIC")
    stated = _QUALITY.search(note)
    made = open_picture(picture)
    same = picture == scale_photo(photo, size, how, int(stated[1])) if stated else filter_of(made, photo.image()) == how
    return compare_pairs(size=(list(size), list(made.size)), filter_and_quality=(True, same))


async def photo_of_most_pixels(row: Row, case: ShippedProfile) -> RowResult:
    """A larger photo is scaled to that many pixels, its sides cut to whole ones."""
    photo = grainy_photo(*_LARGE_SIZE)
    scale = math.sqrt(row["value"] / (photo.width * photo.height))
    size = (int(photo.width * scale), int(photo.height * scale))
    (picture,) = pictures_in(await case.first_body(photo=photo))
    return check_note(row, photo, size, picture, row["note"])


async def photo_as_it_is(row: Row, case: ShippedProfile) -> RowResult:
    """To the byte, whatever its sides."""
    photo = grainy_photo(1001, 751)
    (picture,) = pictures_in(await case.first_body(photo=photo))
    return compare_pairs(photo=(True, picture == photo.data))


async def crop_of(case: ShippedProfile, box: list[int], photo: Photo | None = None) -> Image.Image:
    """What the zoom shows of a photo, a large one unless it is given."""
    arguments = json.dumps({"bbox_2d": box, "label": "x", "img_idx": 0})
    call = f'<tool_call>\n{{"name": "image_zoom_in_tool", "arguments": {arguments}}}\n</tool_call>'
    played = await case.play([call], photo or grainy_photo(*_LARGE_SIZE))
    (image,) = played.results[0].images
    return open_picture(played.files[image.sha256])


def is_multiple(value: int, *pictures: Image.Image) -> bool:
    """Sides are multiples of the value, and of no larger one."""
    return math.gcd(*(side for picture in pictures for side in picture.size)) == value


def is_least(value: int, small: Image.Image, step: int) -> bool:
    """The picture has at least that many pixels, and a step less would be too few."""
    return small.width * small.height >= value > (small.width - step) * (small.height - step)


def is_most(value: int, large: Image.Image, step: int) -> bool:
    """The picture has at most that many pixels, and a step more would be too many."""
    return large.width * large.height <= value < (large.width + step) * (large.height + step)


def open_picture(data: bytes) -> Image.Image:
    """The decoded picture in RGB."""
    with Image.open(io.BytesIO(data)) as picture:
        return picture.convert("RGB")
