"""Draws maps and reports of answers on request: the `Pictures` of the MCP server."""

from __future__ import annotations

import asyncio
from typing import Literal

from deployments.http.answer_maps import AnswerMaps
from tts.domain.answer import Answer
from tts.domain.photo_cleaning import load_photo
from tts.domain.trajectory import Run
from tts.geodata.store import DataStore
from tts.report.html_report import report_page


class AnswerPictures:
    """Draws in threads."""

    def __init__(self, maps: AnswerMaps, data_dir: str | None) -> None:
        self._maps = maps
        self._data_dir = data_dir

    async def draw(self, answer: Answer, view: Literal["answer", "world"]) -> bytes | None:
        """As `AnswerMaps.draw`."""
        return await self._maps.draw(answer, view)

    async def report(self, run: Run, photo: bytes | None) -> str:
        """The report as one HTML page; `photo` is the clean copy. Raises GeoTTSError without an answer."""
        return await asyncio.to_thread(self._render_report, run, photo)

    def _render_report(self, run: Run, photo: bytes | None) -> str:
        shown = None if photo is None else load_photo(photo)
        return report_page(run, DataStore(self._data_dir).cartographer(), shown)
