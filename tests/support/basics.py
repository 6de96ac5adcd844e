"""What tests are made of: project-made photos, small requests, a virtual clock."""

from __future__ import annotations

import asyncio
import functools
import io
import os
import selectors
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from tts.domain.photo import Photo
from tts.domain.request import LocateOptions, LocateRequest, RequestContext, new_request_id

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"


def sign_bytes(*lines: str, size: tuple[int, int] = (800, 480), kind: str = "JPEG") -> bytes:
    """A street sign with Latin text, made here."""
    picture = Image.new("RGB", size, (90, 120, 150))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((60, 60, size[0] - 60, size[1] - 60), fill=(245, 245, 240), outline=(20, 20, 20), width=6)
    font = ImageFont.load_default(64)
    for i, line in enumerate(lines):
        draw.text((size[0] / 2, 140 + 100 * i), line, fill=(10, 10, 10), font=font, anchor="mm")
    out = io.BytesIO()
    picture.save(out, kind)
    return out.getvalue()


def a_context(remaining_s: float = 30.0) -> RequestContext:
    return RequestContext(id="loc_test", remaining_s=remaining_s)


def a_request(photo: Photo, **options: Any) -> LocateRequest:
    return LocateRequest(id=new_request_id(), photos=(photo,), options=LocateOptions(**options))


def golden(name: str, made: str) -> None:
    """Compare with a golden file; `UPDATE_GOLDEN=1` writes it instead."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(made)
    assert made == path.read_text(), f"{name} changed: if that is meant, run again with UPDATE_GOLDEN=1"


def leftover_tasks() -> list[str]:
    """Names of tasks that still run besides the test's own."""
    return [task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()]


class _VirtualSelector(selectors.DefaultSelector):
    """Never waits: the time it was asked to wait passes on the loop's clock instead."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise RuntimeError("the virtual loop would wait for ever: nothing is scheduled")
            self.now += timeout
        return ready


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual_selector = _VirtualSelector()
        super().__init__(self._virtual_selector)

    def time(self) -> float:
        return self._virtual_selector.now


def virtual_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run an async test on a clock that jumps: hours take milliseconds, and timing is exact. No threads, no sockets."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
            runner.run(test(*args, **kwargs))

    return run
