"""The small copy of a photo on which everything that needs no model is measured."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tts.decision_weights import weights
from tts.domain.photo import Photo

_SIDE_PX = int(weights("photo_view")["side_px"])


def small_copy(photo: Photo) -> npt.NDArray[np.uint8]:
    """(height, width, 3) RGB pixels, the longer side at most 256. Decodes the photo: about 10 ms a megapixel."""
    picture = photo.image()
    picture.thumbnail((_SIDE_PX, _SIDE_PX))
    return np.asarray(picture, dtype=np.uint8)
