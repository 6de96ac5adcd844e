"""Gives a picture a URL while one search runs, in one of two ways: `served_pictures.py` or `picture_store.py`."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from tools.region_search.picture import RegionPicture
from tts.domain.request import RequestContext


class RegionUpload(Protocol):
    """Lends a picture a URL that nobody can guess."""

    def lend(self, picture: RegionPicture, context: RequestContext) -> AbstractAsyncContextManager[str]:
        """Lend a picture a URL. When the block ends the picture is gone, however it ends: a failure, and a cancellation
        too, waits for that.

        Args:
            picture: what the URL shows, as it may leave this machine.
            context: the request; what is sent is listed under its id.

        Returns:
            An asynchronous context manager that gives the URL, which is good inside the block.

        Raises:
            ToolError: UNAVAILABLE when it cannot be lent.
        """
        ...
