"""The script that records the runs of a budget table: no way profits from what another way has read."""

import importlib.util
import time
from types import SimpleNamespace

import pytest
from support.basics import sign_bytes
from support.docs_blocks import ROOT

from tts.domain.photo_cleaning import load_photo
from tts.domain.reading import Reading
from tts.domain.request import RequestContext

CONTEXT = RequestContext(id="r", remaining_s=30.0)
READ_S = 0.05


@pytest.fixture(scope="module")
def recorder():
    spec = importlib.util.spec_from_file_location("record_budget_runs", ROOT / "scripts" / "record_budget_runs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class SlowReader:
    """Takes a while for each photo, and counts them."""

    def __init__(self):
        self.read_photos = 0

    def read(self, photo, box, language):
        self.read_photos += 1
        time.sleep(READ_S)
        return Reading(photo_sha256=photo.sha256)


async def test_another_way_gets_the_same_reading_after_the_same_time(recorder, monkeypatch):
    waited = []

    async def note_wait(seconds):
        waited.append(seconds)

    monkeypatch.setattr(recorder, "asyncio", SimpleNamespace(sleep=note_wait))
    reader = SlowReader()
    perception = recorder.RepeatedPerception(lambda: reader)
    photo = load_photo(sign_bytes("Rue de Rivoli"))
    for way in range(3):
        perception.begin_way()
        for _ in range(2):  # the second reading of a way is kept, as in a service
            await perception.read(photo, None, CONTEXT)
        assert len(waited) == way
    perception.close()
    assert reader.read_photos == 1
    assert min(waited) >= READ_S


def test_every_way_is_recorded_as_a_budget_table_needs_it(recorder):
    ways = recorder.WAYS.values()
    assert {way.n for way in ways if way[1:] == (8, 1, 0, "none")} == {1, 2, 4, 8}
    assert any(way.answer_draws > 1 for way in ways)
    assert any(way.questions for way in ways)
    assert any(way.stop != "none" for way in ways)
