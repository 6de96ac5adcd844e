"""The small copy of a photo on which everything that needs no model is measured."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tts.domain.photo import Photo

_SIDE = 256  # pixels of the longer side


def small_copy(photo: Photo) -> npt.NDArray[np.uint8]:
    """(height, width, 3) RGB pixels, the longer side at most 256. Decodes the photo: about 10 ms a megapixel."""
    picture = photo.image()
    picture.thumbnail((_SIDE, _SIDE))
    return np.asarray(picture, dtype=np.uint8)
