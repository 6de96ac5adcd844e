"""What a photo looks like, without a model: shares of sky and vegetation, structure, blur, how indoor it seems.

Cheap statistics of a small copy (about 5 ms). Each lies in [0, 1]; none of them says where a photo is, together with
what can be read they say how much there is to go by.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

_Bytes = npt.NDArray[np.uint8]


def image_cues(pixels: npt.NDArray[np.uint8]) -> dict[str, float]:
    """`sky`, `vegetation`, `structure`, `blur` and `indoor`. Deterministic.

    `pixels`: (height, width, 3), RGB, of a small copy.
    """
    hsv = cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV)
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    sky, vegetation = _sky(hsv, grey), _vegetation(pixels)
    structure, sharpness = _structure(grey), float(cv2.Laplacian(grey, cv2.CV_64F).var())
    found = {
        "sky": sky,
        "vegetation": vegetation,
        "structure": structure,
        "blur": 1.0 - min(1.0, sharpness / 300.0),
        "indoor": _indoor(pixels, sky, vegetation),
    }
    return {name: round(float(np.clip(value, 0.0, 1.0)), 4) for name, value in found.items()}


def _sky(hsv: npt.NDArray[np.generic], grey: npt.NDArray[np.generic]) -> float:
    """Share of the photo that is smooth, bright, blue or pale, and hangs together from the top edge."""
    h, s, v = (np.asarray(hsv[..., i], dtype=np.int32) for i in range(3))
    blue = (h > 90) & (h < 130) & (s > 40) & (v > 90)
    pale = (s < 40) & (v > 170)
    edges = np.abs(cv2.Laplacian(np.asarray(grey, dtype=np.uint8), cv2.CV_64F)) < 20
    smooth = ((blue | pale) & edges).astype(np.uint8)
    _, labels = cv2.connectedComponents(smooth)
    top = np.unique(labels[0][smooth[0] > 0])
    return float(np.isin(labels, top[top > 0]).mean())


def _vegetation(pixels: _Bytes) -> float:
    """Share of pixels that are clearly greener than red and blue (excess green)."""
    r, g, b = (pixels[..., i].astype(np.float64) for i in range(3))
    return float(((2 * g - r - b) / (r + g + b + 1.0) > 0.10).mean())


def _structure(grey: npt.NDArray[np.generic]) -> float:
    """Length of straight lines against the size of the photo: what people build is straight."""
    edges = cv2.Canny(np.asarray(grey, dtype=np.uint8), 80, 160)
    lines = cv2.HoughLinesP(edges, 1, np.pi / 180, 40, minLineLength=25, maxLineGap=4)
    if lines is None:
        return 0.0
    ends = np.asarray(lines, dtype=np.float64).reshape(-1, 4)
    return float(np.hypot(ends[:, 2] - ends[:, 0], ends[:, 3] - ends[:, 1]).sum() / (12.0 * sum(grey.shape)))


def _indoor(pixels: _Bytes, sky: float, vegetation: float) -> float:
    """Warm light, a top that is darker than it would be under a sky, nothing green."""
    top = pixels[: max(1, pixels.shape[0] // 3)].reshape(-1, 3).mean(axis=0)
    warm = np.clip((float(top[0]) - float(top[2])) / 80.0, 0.0, 1.0)
    dark = 1.0 - min(1.0, float(top.mean()) / 160.0)
    return float((1.0 - min(1.0, 4.0 * sky)) * (1.0 - min(1.0, 3.0 * vegetation)) * (0.4 + 0.4 * warm + 0.2 * dark))
