"""Pictures that show nothing: blank, evenly shaded, one texture, noise. Drawn here, seeded."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageFilter

from tts.domain.photo import Photo
from tts.domain.photo_cleaning import load_photo

_SIZE = (640, 480)


def _grid() -> tuple[np.ndarray, np.ndarray]:
    y, x = np.mgrid[0 : _SIZE[1], 0 : _SIZE[0]]
    return y, x


def _grey(values: np.ndarray) -> Image.Image:
    return Image.fromarray(np.clip(values, 0, 255).astype(np.uint8)).convert("RGB")


def _noise(seed: int, blur: float = 0.0) -> Image.Image:
    values = np.random.default_rng(seed).normal(128, 60, (_SIZE[1], _SIZE[0], 3))
    picture = Image.fromarray(np.clip(values, 0, 255).astype(np.uint8))
    return picture.filter(ImageFilter.GaussianBlur(blur)) if blur else picture


def _bricks() -> Image.Image:
    y, x = _grid()
    joints = (y % 24 < 3) | ((x + (y // 24 % 2) * 32) % 64 < 3)
    return _grey(np.where(joints, 220, 150) + np.random.default_rng(3).normal(0, 8, joints.shape))


def _checkerboard(side: int) -> Image.Image:
    y, x = _grid()
    return _grey(((x // side + y // side) % 2) * 255)


def _vignette() -> Image.Image:
    y, x = _grid()
    return _grey(230 - np.hypot(x - _SIZE[0] / 2, y - _SIZE[1] / 2) * 0.4)


PICTURES = {
    "black": lambda: Image.new("RGB", _SIZE),
    "white": lambda: Image.new("RGB", _SIZE, (255, 255, 255)),
    "flat blue": lambda: Image.new("RGB", _SIZE, (70, 110, 200)),
    "gradient": lambda: _grey(np.add(*_grid()) / sum(_SIZE) * 255),
    "vignette": _vignette,
    "noise": lambda: _noise(1),
    "coarse noise": lambda: _noise(2).resize((64, 48)).resize(_SIZE, Image.Resampling.NEAREST),
    "blurred noise": lambda: _noise(4, blur=3),
    "bricks": _bricks,
    "checks": lambda: _checkerboard(20),
    "large checks": lambda: _checkerboard(80),
    "dark": lambda: _noise(5).point(lambda value: value // 16),
}


def empty(name: str, kind: str = "JPEG") -> bytes:
    """One of `PICTURES` as a file."""
    out = io.BytesIO()
    PICTURES[name]().save(out, kind)
    return out.getvalue()


def empty_photo(name: str) -> Photo:
    return load_photo(empty(name))
