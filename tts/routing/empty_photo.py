"""Whether a photo shows anything at all: structure against blank areas, even shades, one texture and noise.

A scene has parts: large areas that differ, with contours between them. Four measures of a small copy look for them, and
none of them asks how busy a picture is, so noise does not pass for a scene and fog does not pass for a blank wall:

    parts       how much coarse areas differ, once an even shade over the whole picture is taken away (Lab units)
    largeness   the share of the variation that is left when fine detail is averaged away: little in texture and noise
    contours    kurtosis of the gradient: 3 for any noise, more where a few contours stand between even areas
    irregular   1 − the highest autocorrelation away from the centre: nothing is left where a pattern repeats
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from tts.decision_weights import weights

_W = weights("photo_view")
# cells along the longer side
_COARSE_CELLS = int(_W["coarse_cells"])
_MIDDLE_CELLS = int(_W["middle_cells"])
_FINE_CELLS = int(_W["fine_cells"])
_MIN_CENTRE_AUTOCORRELATION = _W["centre_from"]

# Measured on 80 photos of places (as they are, darkened to a tenth, faded to a fifth of their contrast, blurred by a
# hundredth of their side, noisy) and on 44 drawn pictures without content, 2026-11: the least of the photos, the most
# of the drawn ones that no other measure catches, and a threshold between them.
_MIN_PARTS = _W["parts_from"]
_MIN_LARGENESS = _W["largeness_from"]
_MIN_CONTOURS = _W["contours_from"]
_MIN_IRREGULARITY = _W["irregular_from"]
CONTENT_FROM = _W["content_from"]
"""The content below which a picture shows nothing; measured, see docs/routing.md."""

_Numbers = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Structure:
    """The four measures of one picture, as in the module's text."""

    parts: float
    largeness: float
    contours: float
    irregular: float

    @property
    def content(self) -> float:
        """The least of the measures against their thresholds, in [0, 1]. Where the least one equals its
        threshold, it is `CONTENT_FROM`."""
        over = (
            self.parts / _MIN_PARTS,
            self.largeness / _MIN_LARGENESS,
            (self.contours - 3.0) / (_MIN_CONTOURS - 3.0),
            self.irregular / _MIN_IRREGULARITY,
        )
        return float(np.clip(CONTENT_FROM * min(over), 0.0, 1.0))


def structure_of(pixels: npt.NDArray[np.uint8]) -> Structure:
    """The measures of (height, width, 3) RGB pixels of a small copy. Deterministic, about 10 ms."""
    colours = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2LAB), dtype=np.float32)
    coarse, middle, fine = (
        _remove_shade(_average_cells(colours, cells)) for cells in (_COARSE_CELLS, _MIDDLE_CELLS, _FINE_CELLS)
    )
    variation = _colour_spread(middle)
    return Structure(
        parts=_colour_spread(coarse),
        largeness=_colour_spread(coarse) / variation if variation > 0 else 0.0,
        contours=_kurtosis_of_gradient(fine[..., 0]),
        irregular=1.0 - _repetition(middle[..., 0]),
    )


def _average_cells(colours: _Numbers, cells: int) -> _Numbers:
    """Averages over so many cells along the longer side."""
    height, width = colours.shape[:2]
    scale = cells / max(height, width)
    size = max(2, round(width * scale)), max(2, round(height * scale))
    return np.asarray(cv2.resize(colours, size, interpolation=cv2.INTER_AREA), dtype=np.float32)


def _remove_shade(colours: _Numbers) -> _Numbers:
    """What is left of each channel without its best quadratic surface: lamps, vignettes and gradients are no parts."""
    height, width, channels = colours.shape
    y, x = np.mgrid[0:height, 0:width]
    x, y = (x.ravel() / width - 0.5), (y.ravel() / height - 0.5)
    surface = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=1)
    flat = colours.reshape(-1, channels)
    fitted = surface @ np.linalg.lstsq(surface, flat, rcond=None)[0]
    return np.asarray(flat - fitted, dtype=np.float32).reshape(colours.shape)


def _colour_spread(colours: _Numbers) -> float:
    return float(np.sqrt((colours**2).mean(axis=(0, 1)).sum()))


def _kurtosis_of_gradient(light: _Numbers) -> float:
    gradient = np.concatenate([np.diff(light, axis=1).ravel(), np.diff(light, axis=0).ravel()])
    centred = gradient - gradient.mean()
    variance = float((centred**2).mean())
    return float((centred**4).mean()) / variance**2 if variance > 1e-6 else 0.0


def _repetition(light: _Numbers) -> float:
    """The highest autocorrelation, in [0, 1], of a shift by up to half the picture that is not part of the centre."""
    height, width = light.shape
    padded = (2 * height, 2 * width)
    centred = light - light.mean()
    variance = float((centred**2).mean())
    if variance < 1e-6:
        return 0.0
    overlap = _autocorrelation(np.ones_like(light), padded)
    full = _autocorrelation(centred, padded) / np.maximum(overlap, 1.0) / variance
    top, left = height // 2, width // 2
    shifts = np.roll(full, (top, left), (0, 1))[: 2 * top + 1, : 2 * left + 1]
    _, areas = cv2.connectedComponents((shifts > _MIN_CENTRE_AUTOCORRELATION).astype(np.uint8))
    away = shifts[areas != areas[top, left]]
    return float(np.clip(away.max(initial=0.0), 0.0, 1.0))


def _autocorrelation(values: _Numbers, padded: tuple[int, int]) -> _Numbers:
    return np.asarray(np.fft.irfft2(np.abs(np.fft.rfft2(values, padded)) ** 2, padded), dtype=np.float32)
