"""A gateway decodes photos on its loop, in threads or in processes: to the same end."""

import asyncio
import io
import os
import signal

import psutil
import pytest
from hostile import corpus
from PIL import Image
from support import leftover_tasks, sign_bytes

from deployments.admission import Admission
from deployments.photo_processes import PhotoProcesses
from tts.config import GatewayConfig
from tts.domain.photo import PhotoLimits, load_photo
from tts.errors import PhotoError

SMALL = [sign_bytes(word, size=(320, 240)) for word in ("Quai", "Rue", "Place", "Cours")]
LARGE = sign_bytes("Hauptbahnhof", size=(1600, 1200))


def said_of(photo):
    return photo.data, photo.sha256, photo.source_sha256, photo.width, photo.height


def outcome(raw, limits=None):
    try:
        return said_of(load_photo(raw, limits))
    except PhotoError as error:
        return error.fields["reason"], error.detail, error.status


async def outcome_of(cleaning):
    try:
        return said_of(await cleaning)
    except PhotoError as error:
        return error.fields["reason"], error.detail, error.status


def children():
    return [child for child in psutil.Process().children() if "deployments.photo_worker" in child.cmdline()]


async def at_hand(processes):
    async with asyncio.timeout(60):
        while not processes.at_hand():  # noqa: ASYNC110 nobody rings for it
            await asyncio.sleep(0.02)


@pytest.fixture
async def processes():
    made = PhotoProcesses(GatewayConfig(max_decoding=1))
    await at_hand(made)
    yield made
    await made.aclose()
    assert children() == []
    assert leftover_tasks() == []


async def test_until_a_process_is_there_a_thread_decodes():
    made = PhotoProcesses(GatewayConfig())
    assert not made.at_hand()
    assert await outcome_of(made.clean(LARGE)) == outcome(LARGE)
    await made.aclose()
    assert leftover_tasks() == []


@pytest.mark.filterwarnings("ignore")  # Pillow warns about what it mends
async def test_whatever_is_sent_comes_to_the_same_end(processes):
    for raw in (b"", LARGE, *SMALL, *(item.data for item in corpus())):
        assert processes.at_hand()
        assert await outcome_of(processes.clean(raw)) == outcome(raw)


async def test_its_limits_are_the_gateways():
    limits = PhotoLimits(max_pixels=320 * 240, min_side=200)
    made = PhotoProcesses(GatewayConfig(photo=limits))
    await at_hand(made)
    for raw in (SMALL[0], LARGE, sign_bytes("Quai", size=(320, 190))):
        assert await outcome_of(made.clean(raw)) == outcome(raw, limits)
    await made.aclose()


async def test_a_process_that_dies_takes_one_photo_along(processes, caplog):
    (child,) = children()
    child.send_signal(signal.SIGSTOP)
    cleaning = asyncio.create_task(processes.clean(LARGE))
    await asyncio.sleep(0)
    child.kill()
    with pytest.raises(PhotoError, match="decoding it failed") as refused:
        await cleaning
    assert refused.value.status == 422
    assert "died over a photo" in caplog.text
    await at_hand(processes)
    assert await outcome_of(processes.clean(LARGE)) == outcome(LARGE)


async def test_one_that_dies_with_nothing_to_do_is_replaced(processes):
    (child,) = children()
    child.kill()
    await asyncio.sleep(0.2)
    assert not processes.at_hand()
    await at_hand(processes)
    assert [again.pid for again in children()] != [child.pid]


async def test_a_photo_that_takes_too_long_is_refused(processes, monkeypatch):
    monkeypatch.setattr("deployments.photo_processes._LONGEST_S", 0.1)
    children()[0].send_signal(signal.SIGSTOP)
    with pytest.raises(PhotoError, match="decoding it failed"):
        await processes.clean(LARGE)


async def test_whoever_leaves_does_not_mix_up_the_answers(processes):
    leaving = asyncio.create_task(processes.clean(LARGE))
    await asyncio.sleep(0.001)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert not processes.at_hand()
    await at_hand(processes)
    assert await outcome_of(processes.clean(SMALL[0])) == outcome(SMALL[0])


async def test_it_knows_none_of_the_gateways_keys(monkeypatch):
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "a-key")
    made = PhotoProcesses(GatewayConfig())
    await at_hand(made)
    assert "a-key" not in str(children()[0].environ())
    await made.aclose()


async def test_where_none_can_be_started_threads_go_on(monkeypatch, caplog):
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    made = PhotoProcesses(GatewayConfig())
    for _ in range(3):
        assert not made.at_hand()
        assert await outcome_of(made.clean(LARGE)) == outcome(LARGE)
    assert caplog.text.count("threads decode them") == 1
    await made.aclose()


async def test_one_that_cannot_read_its_limits_is_not_started_again_and_again(monkeypatch, caplog):
    monkeypatch.setattr(PhotoLimits, "model_dump_json", lambda self: "{")
    made = PhotoProcesses(GatewayConfig())
    assert not made.at_hand()
    async with asyncio.timeout(60):
        while "threads decode them" not in caplog.text:  # noqa: ASYNC110 nobody rings for it
            await asyncio.sleep(0.02)
    assert not made.at_hand()
    assert children() == []
    await made.aclose()


async def test_of_several_at_once_each_gets_its_own(processes):
    door = Admission(GatewayConfig(), processes)
    sent = [raw for raw in (*SMALL, LARGE) for _ in range(8)]
    cleaned = await asyncio.gather(*(door.photos([raw]) for raw in sent))
    assert [said_of(photo) for (photo,) in cleaned] == [outcome(raw) for raw in sent]


async def test_a_small_photo_of_many_scans_is_read_too(processes):
    out = io.BytesIO()
    Image.open(io.BytesIO(SMALL[0])).save(out, "JPEG", progressive=True)
    door = Admission(GatewayConfig(), processes)
    cleaned = await asyncio.gather(*(door.photos([out.getvalue()]) for _ in range(4)))
    assert {said_of(photo) for (photo,) in cleaned} == {outcome(out.getvalue())}


def test_it_ends_with_its_gateway():
    """Also one that is killed."""
    reader, writer = os.pipe()
    if (gateway := os.fork()) == 0:
        asyncio.run(_as_a_gateway(writer))
    os.close(writer)
    with os.fdopen(reader) as told:
        child = psutil.Process(int(told.readline()))
    assert child.is_running()
    os.kill(gateway, signal.SIGKILL)
    os.waitpid(gateway, 0)
    child.wait(10)


async def _as_a_gateway(writer):
    await at_hand(PhotoProcesses(GatewayConfig()))
    os.write(writer, f"{children()[0].pid}\n".encode())
    await asyncio.sleep(60)
    os._exit(0)
