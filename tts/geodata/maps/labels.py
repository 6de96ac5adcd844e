"""Places the names on a map: the most important first, and no name touches another.

Placement is greedy: names come in order of importance, each tries a few places around its point, and the first that is
inside the frame and clear of everything already placed is taken. Same input, same map.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from tts.geodata.maps.text_drawing import TextStyle, glyph_run

_GAP_PX: Final = 2  # pixels kept free around every name
_DOT_PX = 4


@dataclass(frozen=True, slots=True)
class Rect:
    """Pixels, right and bottom excluded."""

    left: int
    top: int
    right: int
    bottom: int

    def touches(self, other: Rect) -> bool:
        """Whether the two have a pixel in common; rectangles that lie edge to edge have none."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


@dataclass(frozen=True, slots=True)
class Name:
    """A name that wants a place at pixel (x, y): beside its dot, or centred on the point (an area's name)."""

    text: str
    x: float
    y: float
    style: TextStyle
    dot_px: float = 0.0


@dataclass(frozen=True, slots=True)
class PlacedName:
    """A name and the pixels that its text takes."""

    name: Name
    box: Rect


@dataclass(slots=True)
class Sheet:
    """What is taken on a map of `width` by `height` pixels."""

    width: int
    height: int
    used_rects: list[Rect] = field(default_factory=list)

    def place(self, names: Iterable[Name], *, limit: int) -> list[PlacedName]:
        """Places for as many names as fit, at most `limit`, in the order given."""
        placed: list[PlacedName] = []
        for name in names:
            if len(placed) >= limit:
                break
            box = self._free_place(name)
            if box is not None:
                placed.append(PlacedName(name, box))
                self.used_rects.append(grow_rect(box, _GAP_PX))
                if name.dot_px:
                    self.used_rects.append(_rect_around(name.x, name.y, _DOT_PX))
        return placed

    def _free_place(self, name: Name) -> Rect | None:
        if name.dot_px and not self._is_free(_rect_around(name.x, name.y, _DOT_PX), inside=False):
            return None
        return next((box for box in _candidate_places(name) if self._is_free(box, inside=True)), None)

    def _is_free(self, box: Rect, *, inside: bool) -> bool:
        if inside and not (box.left >= _GAP_PX and box.top >= _GAP_PX and box.right <= self.width - _GAP_PX):
            return False
        if inside and box.bottom > self.height - _GAP_PX:
            return False
        return not any(box.touches(other) for other in self.used_rects)


def _candidate_places(name: Name) -> list[Rect]:
    """Places to try, the best first."""
    run = glyph_run(name.text, name.style.size_px, name.style.weight, name.style.spacing)
    width, height = run.width, run.height
    x, y = round(name.x), round(name.y)
    if not name.dot_px:
        return [_rect(x - width // 2, y - height // 2 + shift, width, height) for shift in (0, -height - 6, height + 6)]
    away = round(name.dot_px) + 3
    right, left, middle = x + away, x - away - width, y - height // 2
    above, below, centred = y - away - height, y + away, x - width // 2
    corners = ((right, middle), (left, middle), (centred, above), (centred, below), (right, above + 3),
               (right, below - 3), (left, above + 3), (left, below - 3))  # fmt: skip
    return [_rect(at, top, width, height) for at, top in corners]


def _rect(left: int, top: int, width: int, height: int) -> Rect:
    return Rect(left, top, left + width, top + height)


def _rect_around(x: float, y: float, reach: int) -> Rect:
    return Rect(round(x) - reach, round(y) - reach, round(x) + reach, round(y) + reach)


def grow_rect(box: Rect, by: int) -> Rect:
    """A rectangle with that many pixels more on every side."""
    return Rect(box.left - by, box.top - by, box.right + by, box.bottom + by)
