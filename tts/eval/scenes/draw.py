"""Draws panels as a photograph of them: seen from the side, unevenly lit, a little blurred and noisy.

One sign or two hang near the camera. Farther ones stand down the street beside them, at the size that a board two and a
half metres wide has in a camera with a field of view of 70°.
"""

from __future__ import annotations

import io
import math
import random
from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from tts.eval.scenes.fonts import Face, FontShelf
from tts.eval.scenes.templates import Line, Panel

Pixels = npt.NDArray[np.uint8]
Light = npt.NDArray[np.float32]
Room = tuple[float, float, float, float]  # left, right, top, bottom, in shares of the picture
_SIZE_PX = (1280, 960)
_PANEL_WIDTH = 1100
_SIGN_ROWS = {1: ((0.0, 1.0),), 2: ((0.0, 0.62), (0.6, 1.0))}  # top and bottom of where signs hang, by their number
_STREET_WIDTH_SHARE = 0.3  # share of the width in which farther signs stand
_FOCAL_PX = _SIZE_PX[0] / (2 * math.tan(math.radians(70 / 2)))
_BOARD_WIDTH_M = 2.5
_DISTANCE_M = (7.0, 18.0)
_RTL_SCRIPTS = frozenset({"Arab", "Hebr"})
# (ground, ink) by style; one is chosen at random.
_COLOURS: dict[str, tuple[tuple[tuple[int, int, int], tuple[int, int, int]], ...]] = {
    "shop": (((150, 30, 36), (250, 245, 235)), ((30, 70, 50), (245, 230, 180)), ((245, 240, 225), (40, 30, 30))),
    "board": (((24, 60, 120), (250, 250, 250)), ((245, 245, 245), (20, 20, 40)), ((40, 44, 40), (240, 240, 225))),
    "road": (((20, 100, 60), (250, 250, 250)), ((250, 210, 20), (15, 15, 15)), ((25, 70, 150), (250, 250, 250))),
    "paper": (((250, 248, 240), (25, 25, 25)), ((252, 240, 200), (120, 20, 20)), ((235, 240, 245), (20, 40, 90))),
    "plate": (((248, 248, 248), (15, 15, 15)), ((245, 205, 40), (15, 15, 15))),
    "van": (((240, 240, 242), (180, 30, 40)), ((30, 80, 140), (250, 250, 250))),
}


def draw_scene(
    panels: Sequence[Panel], script: str, shelf: FontShelf, seed: str, farther: Sequence[Panel] = ()
) -> bytes:
    """A JPEG of 1280×960 with one sign, or with a second below it, and farther ones to one side of them.

    The same arguments and fonts give the same bytes.

    Raises:
        LookupError: when no face has all characters of a line.
    """
    rng = random.Random(seed)
    noise = np.random.default_rng(list(seed.encode()))
    picture = _draw_wall(rng, noise)
    near, street = _choose_sides(rng) if farther else ((0.0, 1.0), (0.0, 0.0))
    for panel, (top, bottom) in zip(panels, _SIGN_ROWS[len(panels)], strict=True):
        picture = _hang_sign(np.asarray(_draw_panel(panel, script, shelf, rng)), picture, rng, (*near, top, bottom))
    for row, panel in enumerate(farther):
        room = (*street, row / len(farther), (row + 1) / len(farther))
        picture = _stand_sign(np.asarray(_draw_panel(panel, script, shelf, rng)), picture, rng, room)
    seen = _add_camera_effects(picture, rng, noise)
    out = io.BytesIO()
    Image.fromarray(seen).save(out, "JPEG", quality=rng.randint(68, 93))
    return out.getvalue()


def _draw_panel(panel: Panel, script: str, shelf: FontShelf, rng: random.Random) -> Image.Image:
    ground, ink = rng.choice(_COLOURS[panel.style])
    width, height = _PANEL_WIDTH, int(_PANEL_WIDTH / panel.aspect)
    picture = Image.new("RGB", (width, height), ground)
    draw = ImageDraw.Draw(picture)
    if panel.style != "van":
        edge = rng.randint(4, 12)
        draw.rectangle((edge, edge, width - edge, height - edge), outline=ink, width=rng.randint(2, 6))
    margin = 0.09 * min(width, height)
    weight = rng.choice((400, 500, 700))
    face_seed = rng.random()  # one hand letters the whole sign, as far as its face reaches
    room = width - 2 * margin
    drawn = [_fit_face(line, script, shelf, random.Random(face_seed), room, weight) for line in panel.lines]
    heights = [size * (1.25 + line.gap) for (_, size), line in zip(drawn, panel.lines, strict=True)]
    scale = min(1.0, (height - 2 * margin) / sum(heights))
    y = (height - scale * sum(heights)) / 2
    for line, (face, size), tall in zip(panel.lines, drawn, heights, strict=True):
        font = face.font(max(10, int(size * scale)), weight)
        middle = (width / 2, y + scale * (tall - 0.62 * size))
        right_to_left = script in _RTL_SCRIPTS and any(ord(char) > 0x590 for char in line.text)
        draw.text(middle, line.text, fill=ink, font=font, anchor="mm", **_direction_options(right_to_left, font))
        y += scale * tall
    return picture


def _fit_face(
    line: Line, script: str, shelf: FontShelf, rng: random.Random, width: float, weight: int
) -> tuple[Face, int]:
    """A face and the size at which the line fills the width."""
    face = shelf.pick(rng, script, line.text)
    if face is None:
        raise LookupError(f"no font has all of {line.text!r}")
    size = int(120 * line.size)
    length = face.font(size, weight).getlength(line.text)
    return face, max(12, int(size * min(1.0, width / max(1.0, length))))


def _direction_options(right_to_left: bool, font: ImageFont.FreeTypeFont) -> dict[str, Any]:
    return {"direction": "rtl"} if right_to_left and font.layout_engine == ImageFont.Layout.RAQM else {}


def _draw_wall(rng: random.Random, noise: np.random.Generator) -> Light:
    """Plaster, bricks or sky with a street below: enough that a sign does not float in white."""
    width, height = _SIZE_PX
    base = np.array([rng.randint(70, 210) for _ in range(3)], dtype=np.float32)
    grey = float(base.mean())
    wall = np.tile((0.6 * grey + 0.4 * base), (height, width, 1)).astype(np.float32)
    wall += cv2.resize(noise.normal(0, 12, (24, 32, 1)).astype(np.float32), _SIZE_PX)[..., None]
    if rng.random() < 0.5:
        tall, wide = rng.randint(28, 60), rng.randint(70, 150)
        for row, y in enumerate(range(0, height, tall)):
            cv2.line(wall, (0, y), (width, y), (grey * 0.8,) * 3, 2)
            for x in range((row % 2) * wide // 2, width, wide):
                cv2.line(wall, (x, y), (x, y + tall), (grey * 0.8,) * 3, 2)
    else:
        ground = rng.randint(int(0.75 * height), int(0.95 * height))
        wall[ground:] *= 0.6
        for _ in range(rng.randint(0, 3)):
            x, y = rng.randint(0, width), rng.randint(0, ground)
            tone = tuple(float(rng.randint(30, 200)) for _ in range(3))
            cv2.rectangle(wall, (x, y), (x + rng.randint(80, 300), ground), tone, -1)
    return wall


def _choose_sides(rng: random.Random) -> tuple[tuple[float, float], tuple[float, float]]:
    """Left and right edge of what is near and of what is farther, in shares of the width."""
    if rng.random() < 0.5:
        return (0.0, 1.0 - _STREET_WIDTH_SHARE), (1.0 - _STREET_WIDTH_SHARE, 1.0)
    return (_STREET_WIDTH_SHARE, 1.0), (0.0, _STREET_WIDTH_SHARE)


def _hang_sign(sign: Pixels, wall: Light, rng: random.Random, room: Room) -> Light:
    """A sign near the camera: it fills most of its room."""
    (tall, wide), (width, height) = sign.shape[:2], _extent_px(room)
    reach = rng.uniform(0.55, 0.9) * width
    return _paste_sign(sign, wall, rng, room, min(reach, 0.85 * height * wide / tall))


def _stand_sign(sign: Pixels, wall: Light, rng: random.Random, room: Room) -> Light:
    """A sign down the street, as large as its distance makes it."""
    (tall, wide), (width, height) = sign.shape[:2], _extent_px(room)
    near, far = _DISTANCE_M
    distance_m = near * (far / near) ** rng.random()
    reach = min(_FOCAL_PX * _BOARD_WIDTH_M / distance_m, 0.9 * width, 0.85 * height * wide / tall)
    small = cv2.resize(sign, (round(reach), max(1, round(reach * tall / wide))), interpolation=cv2.INTER_AREA)
    return _paste_sign(np.asarray(small, dtype=np.uint8), wall, rng, room, reach)


def _extent_px(room: Room) -> tuple[float, float]:
    left, right, top, bottom = room
    return (right - left) * _SIZE_PX[0], (bottom - top) * _SIZE_PX[1]


def _paste_sign(sign: Pixels, wall: Light, rng: random.Random, room: Room, reach: float) -> Light:
    """The sign `reach` pixels wide, in perspective, with a shadow, somewhere in its room."""
    (tall, wide), (width, height) = sign.shape[:2], _extent_px(room)
    drop = reach * tall / wide
    x0 = room[0] * _SIZE_PX[0] + (width - reach) * rng.uniform(0.2, 0.8)
    y0 = room[2] * _SIZE_PX[1] + (height - drop) * rng.uniform(0.15, 0.7)
    corners = np.array([[0, 0], [wide, 0], [wide, tall], [0, tall]], dtype=np.float32)
    lean = 0.09
    target = np.array(
        [
            [x0 + fx * reach + rng.uniform(-lean, lean) * drop, y0 + fy * drop + rng.uniform(-lean, lean) * drop]
            for fx, fy in ((0, 0), (1, 0), (1, 1), (0, 1))
        ],
        dtype=np.float32,
    )
    view = cv2.getPerspectiveTransform(corners, target)
    mask = cv2.warpPerspective(np.ones((tall, wide), np.float32), view, _SIZE_PX)
    shadow = cv2.GaussianBlur(np.roll(mask, (10, 8), (0, 1)), (0, 0), 9)[..., None]
    drawn = cv2.warpPerspective(sign.astype(np.float32), view, _SIZE_PX, flags=cv2.INTER_LINEAR)
    shaded = wall * (1.0 - 0.45 * shadow)
    return np.asarray(shaded * (1.0 - mask[..., None]) + drawn * mask[..., None], dtype=np.float32)


def _add_camera_effects(picture: Light, rng: random.Random, noise: np.random.Generator) -> Pixels:
    """Uneven light, exposure, blur and sensor noise."""
    width, height = _SIZE_PX
    angle, depth = rng.uniform(0, 2 * np.pi), rng.uniform(0.05, 0.35)
    x, y = np.meshgrid(np.linspace(-1, 1, width), np.linspace(-1, 1, height))
    light = 1.0 + depth * (np.cos(angle) * x + np.sin(angle) * y)
    lit = picture * (light * rng.uniform(0.75, 1.1))[..., None]
    blurred = cv2.GaussianBlur(lit.astype(np.float32), (0, 0), rng.uniform(0.3, 1.7))
    noisy = blurred + noise.normal(0, rng.uniform(1, 9), blurred.shape)
    return np.asarray(np.clip(noisy, 0, 255), dtype=np.uint8)
