"""An area in words, for prompts."""

from __future__ import annotations

from tts.domain.geo import Area, BBox, Circle


def area_text(area: Area) -> str:
    """To be read after "It lies …"."""
    if isinstance(area, BBox):
        return f"between latitudes {area.south:g} and {area.north:g}, longitudes {area.west:g} and {area.east:g}"
    if isinstance(area, Circle):
        return f"within {area.radius_km:g} km of {area.centre}"
    return "in one of these countries: " + ", ".join(area.codes)
