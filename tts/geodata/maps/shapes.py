"""Lines and areas of the map, in three levels of detail, memory-mapped.

A layer is a run of paths; a path is a run of points in world units (0…1 both ways, y downwards) with its bounding box.
Areas are closed paths filled by the even-odd rule, so that holes need no bookkeeping.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tts.geodata.maps.view import View

Points = npt.NDArray[np.float32]
_MIN_PATH_PX = 0.6  # smaller paths leave no mark


class Layer(StrEnum):
    """What is drawn as lines or areas. The value begins the names of the layer's files."""

    LAND = "land"
    LAKES = "lakes"
    COAST = "coast"
    BORDERS = "borders"
    DISPUTED = "disputed"
    STATES = "states"
    RIVERS = "rivers"


class Detail(StrEnum):
    """Coarse below zoom 4, medium below 7, fine above."""

    COARSE = "coarse"
    MEDIUM = "medium"
    FINE = "fine"


def detail_for(zoom: float) -> Detail:
    """The level of detail that is drawn at a zoom."""
    return Detail.COARSE if zoom < 4 else Detail.MEDIUM if zoom < 7 else Detail.FINE


class Shapes:
    """Paths of every layer and detail; opening it maps files."""

    def __init__(self, folder: Path) -> None:
        self._arrays: dict[str, npt.NDArray[Any]] = {
            path.stem: np.load(path, mmap_mode="r").view(np.ndarray) for path in sorted(folder.glob("*_*.npy"))
        }
        self._boxes = {name: np.asarray(array) for name, array in self._arrays.items() if name.endswith("_box")}

    def paths(self, layer: Layer, view: View) -> Iterator[npt.NDArray[np.float64]]:
        """Paths that may touch the view, as (n, 2) pixels; more than once where the world repeats."""
        name = f"{layer.value}_{detail_for(view.zoom).value}"
        boxes, start = self._boxes[f"{name}_box"], self._arrays[f"{name}_start"]
        points = self._arrays[f"{name}_points"]
        scale = view.world_px
        margin = 4.0 / scale
        seen = np.maximum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]) >= _MIN_PATH_PX / scale
        top, bottom = view.top / scale - margin, (view.top + view.height) / scale + margin
        first, last = np.floor(view.left / scale), np.floor((view.left + view.width) / scale)
        for copy in range(int(first) - 1, int(last) + 2):  # paths may reach beyond their own world
            left = view.left / scale - copy
            right = left + view.width / scale + margin
            touching = seen & (boxes[:, 0] <= right) & (boxes[:, 2] >= left - margin)
            touching &= (boxes[:, 1] <= bottom) & (boxes[:, 3] >= top)
            offset = np.array([view.left - copy * scale, view.top])
            for i in np.flatnonzero(touching):
                yield points[start[i] : start[i + 1]].astype(np.float64) * scale - offset

    def all_paths(self, layer: Layer, detail: Detail) -> Iterator[Points]:
        """Every path of a layer, as (n, 2) world units."""
        name = f"{layer.value}_{detail.value}"
        start, points = self._arrays[f"{name}_start"], self._arrays[f"{name}_points"]
        for first, last in itertools.pairwise(start):
            yield points[first:last]


def save_layer(folder: Path, layer: Layer, detail: Detail, paths: Iterable[Points]) -> None:
    """Write one layer at one detail; paths without a second point are dropped."""
    kept = [path for path in paths if len(path) > 1]
    name = f"{layer.value}_{detail.value}"
    points = np.concatenate(kept).astype(np.float32) if kept else np.empty((0, 2), np.float32)
    boxes = [np.concatenate([path.min(axis=0), path.max(axis=0)]) for path in kept]
    np.save(folder / f"{name}_points.npy", points)
    np.save(folder / f"{name}_start.npy", np.cumsum([0] + [len(path) for path in kept]).astype(np.int32))
    np.save(folder / f"{name}_box.npy", np.array(boxes, np.float32).reshape(-1, 4))
