"""Parts of a photo that a rollout of the embedded engine may enlarge."""

from __future__ import annotations

from tts.domain.photo import Box

_OFFSETS = (0.0, 0.25, 0.5)


def halves(photo: int) -> list[Box]:
    """Nine overlapping boxes of half the width and half the height of a photo, in a fixed order."""
    return [Box(x0=x, y0=y, x1=x + 0.5, y1=y + 0.5, photo=photo) for x in _OFFSETS for y in _OFFSETS]


def is_centre_inside(inner: Box, outer: Box) -> bool:
    """Whether the centre of a box lies in another one of the same photo."""
    x, y = (inner.x0 + inner.x1) / 2, (inner.y0 + inner.y1) / 2
    return inner.photo == outer.photo and outer.x0 <= x <= outer.x1 and outer.y0 <= y <= outer.y1
