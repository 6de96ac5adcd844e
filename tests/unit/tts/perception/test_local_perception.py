"""Readings in this process: shared, repeated after a failure, one reader a thread."""

import asyncio
import threading

import pytest

from tts.domain.photo import Box, Photo
from tts.domain.reading import Reading
from tts.domain.request import RequestContext
from tts.errors import ReaderFailed
from tts.perception.local_perception import LocalPerception

CONTEXT = RequestContext(id="loc_1", remaining_s=10.0)
LEFT = Box(x0=0, y0=0, x1=0.5, y1=1)
RIGHT = Box(x0=0.5, y0=0, x1=1, y1=1)


class _Reader:
    """Notes who reads what; two readings at once only end when both have begun."""

    made: list["_Reader"]
    together: threading.Barrier | None = None

    def __init__(self) -> None:
        self.threads: set[int] = set()
        self.boxes: list[Box | None] = []
        self.fail = False
        type(self).made.append(self)

    def read(self, photo: Photo, box: Box | None = None, language: str = "") -> Reading:
        self.threads.add(threading.get_ident())
        self.boxes.append(box)
        if self.together is not None:
            self.together.wait(5.0)
        if self.fail:
            raise ValueError("broken")
        return Reading(photo_sha256=photo.sha256, lines=(), unread=(), warnings=(), version="test")


@pytest.fixture
def reader():
    return type("Reader", (_Reader,), {"made": []})


@pytest.fixture
def photo():
    return Photo(data=b"", sha256="0" * 64, source_sha256="0" * 64, width=64, height=64)


async def test_the_same_box_is_read_once_for_all_who_ask(reader, photo):
    perception = LocalPerception(reader, threads=2)
    one, two = await asyncio.gather(*(perception.read(photo, LEFT, CONTEXT) for _ in range(2)))
    assert one is two
    assert [box for made in reader.made for box in made.boxes] == [LEFT]


async def test_two_boxes_are_read_at_a_time_each_reader_in_its_own_thread(reader, photo):
    reader.together = threading.Barrier(2)
    perception = LocalPerception(reader, threads=2)
    await asyncio.gather(perception.read(photo, LEFT, CONTEXT), perception.read(photo, RIGHT, CONTEXT))
    assert [len(made.threads) for made in reader.made] == [1, 1]


async def test_readings_made_one_after_the_other_need_one_reader(reader, photo):
    perception = LocalPerception(reader, threads=2)
    await perception.read(photo, LEFT, CONTEXT)
    await perception.read(photo, RIGHT, CONTEXT)
    assert len(reader.made) == 1


async def test_a_failed_reading_is_tried_again(reader, photo):
    perception = LocalPerception(reader, threads=1)
    reader.made[0].fail = True
    with pytest.raises(ReaderFailed, match="reading the text in the photo"):
        await perception.read(photo, LEFT, CONTEXT)
    reader.made[0].fail = False
    assert (await perception.read(photo, LEFT, CONTEXT)).version == "test"
