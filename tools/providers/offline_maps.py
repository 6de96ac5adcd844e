"""Maps drawn on this machine: towns, borders, rivers, relief. No streets, nothing finer than a few hundred metres."""

from __future__ import annotations

import asyncio
import io
from typing import Final

from tools.maps import MapPicture, Style
from tts.domain.geo import LatLon
from tts.domain.request import RequestContext
from tts.geodata.maps.cartographer import Cartographer
from tts.geodata.maps.furniture import Pin
from tts.geodata.maps.palette import PALETTES
from tts.geodata.maps.view import MAX_ZOOM, View

_MIN_ZOOM = 2.0
_JPEG_QUALITY = 88
_ACCURACY_NOTES: Final[dict[Style, str]] = {
    "map": "Drawn offline from 1:10 million data: lines are true to about 1 km, relief to 3.7 km; no streets.",
    "satellite": "Drawn offline from Blue Marble: 7.4 km a pixel, shading 3.7 km; no buildings, no streets.",
}


class OfflineMaps:
    """The `MapsProvider` over the embedded data. Drawing takes about 0.1 s of processor time, in a thread.

    Args:
        cartographer: draws the maps.
    """

    name: Final = "offline"
    needs_network: Final = False
    styles: Final = frozenset[Style](("map", "satellite"))

    def __init__(self, cartographer: Cartographer) -> None:
        self._cartographer = cartographer

    async def picture(
        self, point: LatLon, *, style: Style, zoom: float, width: int, height: int, context: RequestContext
    ) -> MapPicture:
        """A JPEG. A zoom that the data do not allow is brought into range; the note tells where it was too large."""
        view = View(point, min(MAX_ZOOM, max(_MIN_ZOOM, zoom)), width, height)
        data = await asyncio.to_thread(encoded_map, self._cartographer, view, style)
        note = f"{_ACCURACY_NOTES[style]} Sources: {PALETTES[style].sources}."
        if zoom > MAX_ZOOM:
            note = f"Zoom {zoom:g} is not available offline; this is zoom {MAX_ZOOM:g}. {note}"
        return MapPicture(data, "image/jpeg", width, height, view.zoom, note)


def encoded_map(cartographer: Cartographer, view: View, style: Style) -> bytes:
    """Draw a view, with a pin at its `centre`.

    Args:
        cartographer: draws the view, in about 0.1 s of processor time: call it in a thread.
        view: what is drawn, and how large. Near a pole, its `centre` need not be in the middle of the picture.
        style: whether a map is drawn, or the land as seen from above.

    Returns:
        The picture as JPEG.
    """
    out = io.BytesIO()
    picture = cartographer.draw(view, style, pins=(Pin(view.centre),))
    picture.save(out, "JPEG", quality=_JPEG_QUALITY, subsampling=0)
    return out.getvalue()
