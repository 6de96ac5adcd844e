"""Recorded searches: one call is one search of one photo, with its results and which of them were marked useful."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

Box = tuple[float, float, float, float]
"""(x0, y0, x1, y1) in thousandths of the photo's sides."""


@dataclass(frozen=True, slots=True)
class CachedResult:
    """One result of a recorded call.

    Attributes:
        position: counts from 1; −1 stands for a call whose results could not be read.
        title: the title of the page.
        link: the URL of the page.
        source: the site, as the service names it.
        text: the snippet of the page.
        useful: whether the result was marked as one that helps to find the place.
    """

    position: int
    title: str = ""
    link: str = ""
    source: str = ""
    text: str = ""
    useful: bool = False


@dataclass(frozen=True, slots=True)
class Annotation:
    """Where a call was annotated; None where it is unknown.

    Attributes:
        image_id: the name of the photo.
        turn: the turn of the call.
        part: the part of the data set.
    """

    image_id: str | None = None
    turn: int | None = None
    part: str | None = None


@dataclass(frozen=True, slots=True)
class PictureCall:
    """A search by picture.

    Attributes:
        path: the path of the photo when it was recorded.
        number: its `call_idx`, from 0 for each photo.
        box: the region that was searched for.
        results: in the order of their positions.
        annotation: where the call was annotated.
    """

    path: str
    number: int
    box: Box
    results: tuple[CachedResult, ...] = ()
    annotation: Annotation = Annotation()


@dataclass(frozen=True, slots=True)
class TextCall:
    """A search by text.

    Attributes:
        path: the path of the photo when it was recorded.
        number: its number among the searches by text of the photo, from 0.
        query: what was searched for; several queries of one call are joined by " | ".
        results: in the order of their positions.
        annotation: where the call was annotated.
    """

    path: str
    number: int
    query: str
    results: tuple[CachedResult, ...] = ()
    annotation: Annotation = Annotation()


@dataclass(frozen=True, slots=True)
class ReverseCache:
    """All recorded calls.

    Attributes:
        pictures: searches by picture by the path of their photo, in the order of their numbers.
        texts: searches by text by the path of their photo, in the order of their numbers.
        paths: the path of each photo by its SHA-256.
    """

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
        """Go through all results that were recorded for a photo.

        Args:
            path: the path of the photo in the tables; a path that is not recorded has no results.

        Yields:
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
