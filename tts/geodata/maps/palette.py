"""The colours and sizes of the two kinds of map. Nothing here computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tts.geodata.maps.rasters import Raster
from tts.geodata.maps.text_drawing import Colour, TextStyle

Style = Literal["map", "satellite"]


@dataclass(frozen=True, slots=True)
class Palette:
    """`veil` lightens the land picture towards `paper` (0 leaves it as it is); line widths are in pixels."""

    land: Raster
    sea: Raster
    paper: Colour
    veil: float
    water: Colour
    water_veil: float
    coast: Colour
    river: Colour
    border: Colour
    border_casing: Colour
    state: Colour
    country: TextStyle
    cities: tuple[tuple[int, TextStyle], ...]  # (least population, style), the greatest first
    dot: Colour
    dot_rim: Colour
    furniture: TextStyle
    sources: str
    resolution: str


_INK: Final = (45, 45, 52)
_LIGHT: Final = (255, 255, 255)
_DARK: Final = (10, 14, 20)

PALETTES: Final[dict[Style, Palette]] = {
    "map": Palette(
        land=Raster.RELIEF,
        sea=Raster.RELIEF_SEA,
        paper=(251, 249, 243),
        veil=0.42,
        water=(196, 219, 238),
        water_veil=0.55,
        coast=(118, 150, 178),
        river=(128, 170, 210),
        border=(139, 97, 122),
        border_casing=(255, 251, 246),
        state=(168, 154, 158),
        country=TextStyle(12, "strong", (122, 84, 108), halo_strength=0.8, spacing=2),
        cities=(
            (5_000_000, TextStyle(15, "strong", _INK)),
            (1_000_000, TextStyle(14, "strong", _INK)),
            (200_000, TextStyle(13, "regular", _INK)),
            (0, TextStyle(12, "regular", (70, 70, 78))),
        ),
        dot=(60, 60, 68),
        dot_rim=_LIGHT,
        furniture=TextStyle(10, "regular", (70, 70, 78), halo_strength=0.0),
        sources="Natural Earth · GSHHG · GeoNames",
        resolution="relief 3.7 km/px, lines ~1 km",
    ),
    "satellite": Palette(
        land=Raster.EARTH,
        sea=Raster.EARTH_SEA,
        paper=(255, 255, 255),
        veil=0.0,
        water=(18, 46, 92),
        water_veil=0.25,
        coast=(190, 205, 215),
        river=(70, 110, 150),
        border=(235, 220, 170),
        border_casing=(20, 20, 20),
        state=(200, 190, 160),
        country=TextStyle(12, "strong", (255, 238, 190), halo=_DARK, halo_strength=0.6, spacing=2),
        cities=(
            (5_000_000, TextStyle(15, "strong", _LIGHT, halo=_DARK, halo_strength=0.65)),
            (1_000_000, TextStyle(14, "strong", _LIGHT, halo=_DARK, halo_strength=0.65)),
            (200_000, TextStyle(13, "regular", _LIGHT, halo=_DARK, halo_strength=0.65)),
            (0, TextStyle(12, "regular", (232, 236, 240), halo=_DARK, halo_strength=0.65)),
        ),
        dot=_LIGHT,
        dot_rim=_DARK,
        furniture=TextStyle(10, "regular", (70, 70, 78), halo_strength=0.0),
        sources="NASA · Natural Earth · GeoNames",
        resolution="picture 7.4 km/px",
    ),
}
