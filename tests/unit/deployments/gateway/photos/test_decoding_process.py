"""A gateway decodes small photos on its loop or in a process: to the same end."""

import asyncio
import os
import signal

import psutil
import pytest
import uvloop
from support.basics import leftover_tasks, sign_bytes
from support.hostile import corpus

from deployments.config import GatewayConfig
from deployments.gateway.admission import Admission
from deployments.gateway.photos.decoding_process import PhotoProcess, _Child
from tts.aio import Milestone
from tts.domain.photo import PhotoLimits
from tts.domain.photo_cleaning import OpenedPhoto, load_photo, load_small_photo
from tts.errors import PhotoError

LIMITS = PhotoLimits()
SMALL = [sign_bytes(word, size=(320, 240)) for word in ("Quai", "Rue", "Place", "Cours")]
LARGE = sign_bytes("Hauptbahnhof", size=(1600, 1200))


def values_of(photo):
    return photo and (photo.data, photo.sha256, photo.source_sha256, photo.width, photo.height)


def outcome(load, *given):
    try:
        return values_of(load(*given))
    except PhotoError as error:
        return error.fields["reason"], error.detail, error.status


async def outcome_of(cleaning):
    try:
        return values_of(await cleaning)
    except PhotoError as error:
        return error.fields["reason"], error.detail, error.status


@pytest.fixture(autouse=True)
def others(monkeypatch):
    """Children that this process had before the test: they are none of its business, not even as zombies."""
    monkeypatch.setattr(__name__ + "._OTHERS", frozenset(child.pid for child in psutil.Process().children()))


_OTHERS: frozenset[int] = frozenset()


def children():
    """The photo processes of this test, the one included that ended and that nobody waited for."""
    return [child for child in psutil.Process().children() if child.pid not in _OTHERS and decodes(child)]


def decodes(child):
    try:
        return "deployments.gateway.photos.decode_in_child" in child.cmdline()
    except psutil.ZombieProcess:
        return True


async def ready(process):
    async with asyncio.timeout(60):
        while not process.ready():  # noqa: ASYNC110 nobody rings for it
            await asyncio.sleep(0.02)


@pytest.fixture
async def process():
    made = PhotoProcess(LIMITS)
    await ready(made)
    yield made
    await made.aclose()
    assert children() == []
    assert leftover_tasks() == []


async def test_a_photo_process_that_has_not_started_decodes_nothing():
    made = PhotoProcess(LIMITS)
    assert not made.ready()
    assert await made.clean(SMALL[0]) is None
    await made.aclose()
    assert not made.ready()
    assert leftover_tasks() == []
    assert children() == []


@pytest.mark.filterwarnings("ignore")  # Pillow warns about what it mends
async def test_the_photo_process_decodes_or_refuses_every_file_as_the_gateway_would(process):
    for raw in (b"", LARGE, *SMALL, *(item.data for item in corpus())):
        assert await outcome_of(process.clean(raw)) == outcome(load_small_photo, raw, LIMITS)


def test_the_photo_process_gives_the_same_results_on_the_event_loop_of_serve():
    async def clean():
        made = PhotoProcess(LIMITS)
        await ready(made)
        found = [await outcome_of(made.clean(raw)) for raw in SMALL]
        await made.aclose()
        return found

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(clean()) == [outcome(load_small_photo, raw, LIMITS) for raw in SMALL]


async def test_the_photo_process_has_the_limits_of_the_gateway():
    limits = PhotoLimits(max_pixels=320 * 240, min_side=200)
    made = PhotoProcess(limits)
    await ready(made)
    for raw in (SMALL[0], sign_bytes("Quai", size=(400, 300)), sign_bytes("Quai", size=(320, 190))):
        assert await outcome_of(made.clean(raw)) == outcome(load_small_photo, raw, limits)
    await made.aclose()


async def test_a_photo_that_kills_two_photo_processes_is_refused_and_others_are_not(process, caplog, monkeypatch):
    clean, deadly = _Child.clean, SMALL[0]

    def dying(self, raw):
        if raw == deadly:
            self._process.send_signal(signal.SIGSTOP)
            self._loop.call_later(0.02, self._process.kill)
        return clean(self, raw)

    monkeypatch.setattr(_Child, "clean", dying)
    cleaning = [asyncio.create_task(process.clean(raw)) for raw in SMALL]
    with pytest.raises(PhotoError, match="decoding it failed") as refused:
        await cleaning[0]
    assert refused.value.status == 422
    assert await asyncio.gather(*cleaning[1:]) == [None] * 3
    assert caplog.text.count("died over a photo") == 2
    monkeypatch.undo()
    await ready(process)
    assert values_of(await process.clean(SMALL[0])) == values_of(load_photo(SMALL[0]))


async def test_an_idle_photo_process_that_dies_is_replaced(process):
    (child,) = children()
    child.kill()
    await asyncio.sleep(0.2)
    assert not process.ready()
    await ready(process)
    assert [again.pid for again in children()] != [child.pid]


async def test_a_photo_sent_to_a_photo_process_that_just_died_is_read_by_the_next_one(process):
    (child,) = children()
    child.kill()
    child.wait()
    assert process.ready()  # the gateway does not know yet
    assert values_of(await process.clean(SMALL[0])) == values_of(load_photo(SMALL[0]))


async def test_a_photo_that_takes_too_long_is_refused(process, monkeypatch):
    monkeypatch.setattr("deployments.gateway.photos.decoding_process._MAX_DECODING_S", 0.0)
    children()[0].send_signal(signal.SIGSTOP)  # or else its answer may be there before the time is looked at
    with pytest.raises(PhotoError, match="decoding it failed"):
        await process.clean(SMALL[0])


async def test_a_photo_sent_to_a_process_that_stands_still_is_read_by_the_next(process, monkeypatch):
    monkeypatch.setattr("deployments.gateway.photos.decoding_process._MAX_DECODING_S", 0.5)
    children()[0].send_signal(signal.SIGSTOP)
    assert values_of(await process.clean(SMALL[0])) == values_of(load_photo(SMALL[0]))


async def test_a_cancelled_call_does_not_mix_up_the_answers(process):
    cancelled = asyncio.create_task(process.clean(SMALL[0]))
    await asyncio.sleep(0)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    assert values_of(await process.clean(SMALL[1])) == values_of(load_photo(SMALL[1]))


async def test_the_photo_process_does_not_inherit_the_keys_of_the_gateway(monkeypatch):
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "a-key")
    made = PhotoProcess(LIMITS)
    await ready(made)
    assert "a-key" not in str(children()[0].environ())
    await made.aclose()


async def gives_up(made, caplog):
    assert not made.ready()
    async with asyncio.timeout(60):
        while "the gateway decodes them" not in caplog.text:  # noqa: ASYNC110 nobody rings for it
            await asyncio.sleep(0.02)
    assert not made.ready()
    await asyncio.sleep(0)
    assert leftover_tasks() == []
    assert children() == []
    await made.aclose()


async def test_a_photo_process_that_cannot_be_started_is_tried_once(monkeypatch, caplog):
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    await gives_up(PhotoProcess(LIMITS), caplog)


async def test_a_photo_process_that_ends_before_it_is_ready_is_tried_once(monkeypatch, caplog):
    monkeypatch.setattr(PhotoLimits, "model_dump_json", lambda self: "{")
    await gives_up(PhotoProcess(LIMITS), caplog)


async def test_many_photos_sent_at_once_each_get_their_own_result(process):
    door = Admission(GatewayConfig(), process)
    photos = [raw for raw in (*SMALL, LARGE, SMALL[0][:99]) for _ in range(8)]
    cleaned = await asyncio.gather(*(outcome_of(_only(door, raw)) for raw in photos))
    assert cleaned == [outcome(load_photo, raw) for raw in photos]


async def test_many_photos_at_once_are_decoded_in_the_photo_process(process, monkeypatch):
    here = []

    def opened_here(*given):
        here.append(given)
        return OpenedPhoto(*given)

    monkeypatch.setattr("deployments.gateway.admission.OpenedPhoto", opened_here)
    door = Admission(GatewayConfig(), process)
    await asyncio.gather(*(door.photos([SMALL[0]], Milestone()) for _ in range(12)))
    assert 1 <= len(here) <= 4
    here.clear()
    for raw in SMALL:
        await door.photos([raw])
    assert len(here) == len(SMALL)


async def _only(door, raw):
    (photo,) = await door.photos([raw])
    return photo


@pytest.mark.slow
def test_the_photo_process_ends_if_its_gateway_is_killed():
    """Also one that is killed."""
    reader, writer = os.pipe()
    if (gateway := os.fork()) == 0:
        asyncio.run(_as_a_gateway(writer))
    os.close(writer)
    with os.fdopen(reader) as pid:
        child = psutil.Process(int(pid.readline()))
    assert child.is_running()
    os.kill(gateway, signal.SIGKILL)
    os.waitpid(gateway, 0)
    child.wait(10)


async def _as_a_gateway(writer):
    await ready(PhotoProcess(LIMITS))
    os.write(writer, f"{children()[0].pid}\n".encode())
    await asyncio.sleep(60)
    os._exit(0)
