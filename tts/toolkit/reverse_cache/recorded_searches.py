"""Recorded searches: one call is one search of one photo, with its results and which of them were marked useful."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

Box = tuple[float, float, float, float]
"""(x0, y0, x1, y1) in thousandths of the photo's sides."""


@dataclass(frozen=True, slots=True)
class CachedResult:
    """`position` counts from 1; −1 stands for a call whose results could not be read. `text` is the page's snippet."""

    position: int
    title: str = ""
    link: str = ""
    source: str = ""
    text: str = ""
    useful: bool = False


@dataclass(frozen=True, slots=True)
class Annotation:
    """Where a call was annotated: name of the photo, turn of the call, part of the data set; None where unknown."""

    image_id: str | None = None
    turn: int | None = None
    part: str | None = None


@dataclass(frozen=True, slots=True)
class PictureCall:
    """A search by picture. `number` is its `call_idx`, from 0 for each photo."""

    path: str
    number: int
    box: Box
    results: tuple[CachedResult, ...] = ()
    annotation: Annotation = Annotation()


@dataclass(frozen=True, slots=True)
class TextCall:
    """A search by text; several queries of one call stand in `query`, joined by " | "."""

    path: str
    number: int
    query: str
    results: tuple[CachedResult, ...] = ()
    annotation: Annotation = Annotation()


@dataclass(frozen=True, slots=True)
class ReverseCache:
    """Calls by the path of their photo, in the order of their numbers, and the paths of photos by their hash."""

    pictures: Mapping[str, tuple[PictureCall, ...]] = field(default_factory=dict)
    texts: Mapping[str, tuple[TextCall, ...]] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)

    def path_of(self, photo_sha256: str) -> str:
        """Find the path under which a photo was recorded.

        Args:
            photo_sha256: the hash of the photo, as in `ToolContext.photo_hashes`.

        Returns:
            The path in the tables; the hash itself for a photo that no table names.
        """
        return self.paths.get(photo_sha256, photo_sha256)

    def results_of(self, path: str) -> Iterator[CachedResult]:
        """All results that were recorded for a photo.

        Args:
            path: the path of the photo in the tables; a path that is not recorded has no results.

        Returns:
            The results of searches by picture, then those of searches by text, each in the order of their calls.
        """
        for picture in self.pictures.get(path, ()):
            yield from picture.results
        for text in self.texts.get(path, ()):
            yield from text.results

    def recorded_paths(self) -> frozenset[str]:
        """List the photos with a recorded call.

        Returns:
            Their paths in the tables.
        """
        return frozenset((*self.pictures, *self.texts))
