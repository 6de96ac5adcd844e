"""Draws the map of an answer when a client asks for it, so that other requests cost no drawing."""

from __future__ import annotations

import asyncio
import io
from typing import Final, Literal

from tts.domain.answer import Answer
from tts.geodata.maps.cartographer import Cartographer
from tts.geodata.store import DataStore
from tts.report.answer_map import answer_map, overview_map

MapView = Literal["answer", "world"]
MEDIA_TYPE: Final = "image/jpeg"
_JPEG_QUALITY = 85
_MAX_AT_ONCE = 2


class AnswerMaps:
    """Opens the map data with the first picture; draws in threads, two at once."""

    def __init__(self, data_dir: str | None) -> None:
        self._data_dir = data_dir
        self._cartographer: Cartographer | None = None
        self._drawing_slots = asyncio.Semaphore(_MAX_AT_ONCE)

    async def draw(self, answer: Answer, view: MapView) -> bytes | None:
        """A JPEG: 640×480 pixels around the answer, or 220×220 of its part of the world.

        None when the answer names no point, and for the world when the answer's own map shows it already.
        Raises DataError where the map data is not.
        """
        if answer.point is None:
            return None
        async with self._drawing_slots:
            return await asyncio.to_thread(self._draw, answer, view)

    def _draw(self, answer: Answer, view: MapView) -> bytes | None:
        picture = (answer_map if view == "answer" else overview_map)(self.cartographer(), answer)
        if picture is None:
            return None
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=_JPEG_QUALITY)
        return out.getvalue()

    def cartographer(self) -> Cartographer:
        """The map data, opened once. Raises DataError where it is not."""
        if self._cartographer is None:
            self._cartographer = DataStore(self._data_dir).cartographer()
        return self._cartographer
