"""Maps stitched from the tiles of any XYZ server (Web Mercator, 256 pixels a tile)."""

from __future__ import annotations

import asyncio
import io
import math
from collections.abc import Mapping
from typing import Final

from PIL import Image, ImageDraw, UnidentifiedImageError

from tools.maps import MapPicture, Style
from tts.domain.geo import LatLon
from tts.domain.request import RequestContext
from tts.errors import ToolError, ToolErrorKind
from tts.geodata.maps.view import MAX_LATITUDE
from tts.net.http_client import USER_AGENT
from tts.toolkit.broker.provider_client import ProviderClient, ProviderRequest
from tts.toolkit.broker.provider_limits import ProviderLimits

OSM_TILES: Final = "https://tile.openstreetmap.org/{z}/{x}/{y}.png"
LIMITS: Final = ProviderLimits(per_s=10.0, burst=12.0, max_running=4)
_TILE_SIDE_PX = 256
_MAX_ZOOM = 19
_MARK_COLOUR = (220, 40, 40)


class TileMaps:
    """The `MapsProvider` over tile servers.

    Args:
        client: fetches the tiles.
        templates: a URL with `{z}`, `{x}` and `{y}` for each style.
        contact: goes into the User-Agent, as usage policies ask.
    """

    name: Final = "osm"
    needs_network: Final = True

    def __init__(self, client: ProviderClient, templates: Mapping[Style, str], *, contact: str = "") -> None:
        self.styles = frozenset(templates)
        self._client = client
        self._templates = dict(templates)
        self._headers = {"User-Agent": f"{USER_AGENT} {contact}".strip()}

    async def picture(
        self, point: LatLon, *, style: Style, zoom: float, width: int, height: int, context: RequestContext
    ) -> MapPicture:
        """A PNG at a whole zoom from 0 to 19. Raises ToolError when a tile cannot be fetched or read."""
        shown = min(_MAX_ZOOM, max(0, round(zoom)))
        centre_x, centre_y = pixel_of(point, shown)
        left, top = round(centre_x - width / 2), round(centre_y - height / 2)
        columns = range(left // _TILE_SIDE_PX, (left + width - 1) // _TILE_SIDE_PX + 1)
        rows = [y for y in range(top // _TILE_SIDE_PX, (top + height - 1) // _TILE_SIDE_PX + 1) if 0 <= y < 2**shown]
        places = [(x, y) for y in rows for x in columns]
        tiles = await asyncio.gather(*(self._fetch_tile(style, shown, x % 2**shown, y, context) for x, y in places))
        sheet = Image.new("RGB", (width, height), (221, 221, 221))
        for (x, y), tile in zip(places, tiles, strict=True):
            sheet.paste(tile, (x * _TILE_SIDE_PX - left, y * _TILE_SIDE_PX - top))
        _mark_middle(sheet)
        out = io.BytesIO()
        sheet.save(out, "PNG")
        note = f"Zoom {shown}. © OpenStreetMap contributors."
        return MapPicture(out.getvalue(), "image/png", width, height, float(shown), note)

    async def _fetch_tile(self, style: Style, zoom: int, x: int, y: int, context: RequestContext) -> Image.Image:
        url = self._templates[style].format(z=zoom, x=x, y=y)
        request = ProviderRequest(url, headers=self._headers, content_types=("image/",), max_bytes=2 * 2**20)
        reply = await self._client.ask(request, context)
        try:
            with Image.open(io.BytesIO(reply.content), formats=("PNG", "JPEG", "WEBP")) as tile:
                if tile.width * tile.height > 4 * _TILE_SIDE_PX * _TILE_SIDE_PX:
                    raise ToolError(f"{self.name}: a tile is too large", kind=ToolErrorKind.UNAVAILABLE)
                return tile.convert("RGB").resize((_TILE_SIDE_PX, _TILE_SIDE_PX))
        except (UnidentifiedImageError, OSError, ValueError) as error:
            raise ToolError(f"{self.name}: a tile is no picture", kind=ToolErrorKind.UNAVAILABLE) from error


def pixel_of(point: LatLon, zoom: int) -> tuple[float, float]:
    """Position in the world's picture of 256 · 2^zoom pixels a side, from its north-west corner.

    Args:
        point: in WGS-84. A latitude beyond 85.05 degrees counts as 85.05, where the picture ends.
        zoom: that of the tiles, 0 or more; 0 is the world in one tile.

    Returns:
        (x, y) in pixels with fractions, y downwards.
    """
    world = _TILE_SIDE_PX * 2.0**zoom
    phi = math.radians(max(-MAX_LATITUDE, min(MAX_LATITUDE, point.lat)))
    return world * (point.lon + 180.0) / 360.0, world * (1.0 - math.asinh(math.tan(phi)) / math.pi) / 2.0


def _mark_middle(sheet: Image.Image) -> None:
    """A ring in the middle, so that what lies at the point stays visible."""
    x, y = sheet.width / 2, sheet.height / 2
    draw = ImageDraw.Draw(sheet)
    draw.ellipse((x - 9, y - 9, x + 9, y + 9), outline=(255, 255, 255), width=5)
    draw.ellipse((x - 8, y - 8, x + 8, y + 8), outline=_MARK_COLOUR, width=3)
