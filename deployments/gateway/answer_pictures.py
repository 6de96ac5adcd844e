"""Draws the map and the report of an answer when a client asks for them, so that other requests cost no drawing."""

from __future__ import annotations

import asyncio
import io
from functools import cached_property
from typing import Final, Literal

from tts.domain.answer import Answer
from tts.domain.photo_cleaning import load_photo
from tts.domain.trajectory import Run
from tts.geodata.maps.cartographer import Cartographer
from tts.geodata.store import DataStore
from tts.report.answer_map import answer_map, overview_map
from tts.report.html_report import report_page

MapView = Literal["answer", "world"]
MEDIA_TYPE: Final = "image/jpeg"
_JPEG_QUALITY = 85
_MAX_AT_ONCE = 2


class AnswerPictures:
    """Draws in threads, two maps at once. The map data is opened with the first picture."""

    def __init__(self, data_dir: str | None) -> None:
        self._data = DataStore(data_dir)
        self._drawing_slots = asyncio.Semaphore(_MAX_AT_ONCE)

    @cached_property
    def _cartographer(self) -> Cartographer:
        """The map data, kept open. Raises DataError where it is not."""
        return self._data.cartographer()

    async def draw(self, answer: Answer, view: MapView) -> bytes | None:
        """A JPEG: 640×480 pixels around the answer, or 220×220 of its part of the world.

        None when the answer names no point, and for the world when the answer's own map shows it already.
        Raises DataError where the map data is not.
        """
        if answer.point is None:
            return None
        async with self._drawing_slots:
            return await asyncio.to_thread(self._draw, answer, view)

    async def report(self, run: Run, photo: bytes | None) -> str:
        """The report as one HTML page; `photo` is the clean copy. Raises GeoTTSError without an answer."""
        return await asyncio.to_thread(self._render_report, run, photo)

    def _draw(self, answer: Answer, view: MapView) -> bytes | None:
        picture = (answer_map if view == "answer" else overview_map)(self._cartographer, answer)
        if picture is None:
            return None
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=_JPEG_QUALITY)
        return out.getvalue()

    def _render_report(self, run: Run, photo: bytes | None) -> str:
        shown = None if photo is None else load_photo(photo)
        return report_page(run, self._data.cartographer(), shown)
