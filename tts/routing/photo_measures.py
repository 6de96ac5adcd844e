"""What a photo looks like, without a model: shares of sky and vegetation, structure, blur, how indoor it seems.

Cheap statistics of a small copy (about 5 ms). Each lies in [0, 1]; none of them says where a photo is, together with
what can be read they say how much there is to go by.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from tts.decision_weights import weights

_Bytes = npt.NDArray[np.uint8]

_W = weights("photo_view")
_SKY_HUE_FROM = int(_W["sky_hue_from"])
_SKY_HUE_TO = int(_W["sky_hue_to"])
_SKY_SATURATION = int(_W["sky_saturation"])
_SKY_VALUE = int(_W["sky_value"])
_PALE_SATURATION = int(_W["pale_saturation"])
_PALE_VALUE = int(_W["pale_value"])
_MAX_SMOOTH_LAPLACIAN = _W["smooth_below"]
_MIN_EXCESS_GREEN = _W["green_from"]
_EDGE_LOW = _W["edge_low"]
_EDGE_HIGH = _W["edge_high"]
_LINE_VOTES = int(_W["line_votes"])
_LINE_PX = _W["line_px"]
_LINE_GAP_PX = _W["line_gap_px"]
_TOP_PARTS = int(_W["top_parts"])


def image_cues(pixels: npt.NDArray[np.uint8]) -> dict[str, float]:
    """`sky`, `vegetation`, `structure`, `blur` and `indoor`. Deterministic.

    `pixels`: (height, width, 3), RGB, of a small copy.
    """
    hsv = cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV)
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    sky, vegetation = _sky_share(hsv, grey), _vegetation_share(pixels)
    structure, sharpness = _line_length_ratio(grey), float(cv2.Laplacian(grey, cv2.CV_64F).var())
    found = {
        "sky": sky,
        "vegetation": vegetation,
        "structure": structure,
        "blur": 1.0 - min(1.0, sharpness / _W["sharp"]),
        "indoor": _indoor_score(pixels, sky, vegetation),
    }
    return {name: round(float(np.clip(value, 0.0, 1.0)), 4) for name, value in found.items()}


def _sky_share(hsv: npt.NDArray[np.generic], grey: npt.NDArray[np.generic]) -> float:
    """Share of the photo that is smooth, bright, blue or pale, and hangs together from the top edge."""
    h, s, v = (np.asarray(hsv[..., i], dtype=np.int32) for i in range(3))
    blue = (h > _SKY_HUE_FROM) & (h < _SKY_HUE_TO) & (s > _SKY_SATURATION) & (v > _SKY_VALUE)
    pale = (s < _PALE_SATURATION) & (v > _PALE_VALUE)
    edges = np.abs(cv2.Laplacian(np.asarray(grey, dtype=np.uint8), cv2.CV_64F)) < _MAX_SMOOTH_LAPLACIAN
    smooth = ((blue | pale) & edges).astype(np.uint8)
    _, labels = cv2.connectedComponents(smooth)
    top = np.unique(labels[0][smooth[0] > 0])
    return float(np.isin(labels, top[top > 0]).mean())


def _vegetation_share(pixels: _Bytes) -> float:
    """Share of pixels that are clearly greener than red and blue (excess green)."""
    r, g, b = (pixels[..., i].astype(np.float64) for i in range(3))
    return float(((2 * g - r - b) / (r + g + b + 1.0) > _MIN_EXCESS_GREEN).mean())


def _line_length_ratio(grey: npt.NDArray[np.generic]) -> float:
    """Length of straight lines against the size of the photo: what people build is straight."""
    edges = cv2.Canny(np.asarray(grey, dtype=np.uint8), _EDGE_LOW, _EDGE_HIGH)
    lines = cv2.HoughLinesP(edges, 1, np.pi / 180, _LINE_VOTES, minLineLength=_LINE_PX, maxLineGap=_LINE_GAP_PX)
    if lines is None:
        return 0.0
    ends = np.asarray(lines, dtype=np.float64).reshape(-1, 4)
    length = np.hypot(ends[:, 2] - ends[:, 0], ends[:, 3] - ends[:, 1]).sum()
    return float(length / (_W["full_lines"] * sum(grey.shape)))


def _indoor_score(pixels: _Bytes, sky: float, vegetation: float) -> float:
    """Warm light, a top that is darker than it would be under a sky, nothing green."""
    top = pixels[: max(1, pixels.shape[0] // _TOP_PARTS)].reshape(-1, 3).mean(axis=0)
    warm = np.clip((float(top[0]) - float(top[2])) / _W["warm_by"], 0.0, 1.0)
    dark = 1.0 - min(1.0, float(top.mean()) / _W["bright_top"])
    inside = (1.0 - min(1.0, _W["sky_outside"] * sky)) * (1.0 - min(1.0, _W["plants_outside"] * vegetation))
    return float(inside * (_W["indoor_neutral"] + _W["indoor_warm"] * warm + _W["indoor_dark"] * dark))
