"""Erasing a request takes with it what the tools kept: cache, tape and egress log, and nothing of others."""

import sqlite3

import httpx
import pytest
from support.basics import sign_bytes
from support.provider_server import answer_with_samples, config_for
from support.rude_server import rude_server
from support.service import PHOTO, an_app, with_tools

from deployments.runstore import sqlite
from deployments.runstore.sqlite import SQLiteRunStore
from deployments.wiring.brokers import NotErased
from deployments.wiring.local import LocalTools, local_tools
from tts.config import ProviderSettings, TapeConfig
from tts.domain.outgoing_request import Outgoing
from tts.domain.photo import Box
from tts.domain.photo_cleaning import load_photo
from tts.domain.request import RequestContext
from tts.domain.tooling import ToolCall, WebFact
from tts.egress.log_file import EgressLog
from tts.egress.records import EGRESS
from tts.ports.toolbox import ToolContext
from tts.toolkit.tape.file import read_tape
from tts.toolkit.tape.reverse_layout import export_reverse
from tts.toolkit.tape.similar_searches import SearchTape

OTHER = sign_bytes("Via Roma")
WHOLE = [0.0, 0.0, 1.0, 1.0]


class Kept:
    """An installation whose tools keep things on disk in every way they can."""

    def __init__(self, http: httpx.AsyncClient, tools: LocalTools, folder) -> None:
        self.http = http
        self.tools = tools
        self.folder = folder

    async def located(self, photo: bytes) -> str:
        """A request about the photo, during which tools looked for it and for words."""
        reply = await self.http.post("/locate", files={"image": photo}, data={"n_parallel": "1"})
        request_id = reply.json()["request_id"]
        sha256 = load_photo(photo).sha256
        context = ToolContext(RequestContext(id=request_id, remaining_s=30.0), photo_sha256=(sha256,))
        for name, arguments in (("image_search", {"bbox": WHOLE}), ("web_search", {"query": f"words {sha256[:6]}"})):
            outcome = await self.tools.toolbox.call(ToolCall(id="c", name=name, arguments=arguments), context)
            assert outcome.result.ok, outcome.result.text
        return request_id

    def names(self, text: str) -> set[str]:
        """The files that hold it."""
        return {path.name for path in self.folder.iterdir() if path.is_file() and text.encode() in path.read_bytes()}


@pytest.fixture
async def kept(data_store, tmp_path):
    sights = SearchTape()
    for photo in (PHOTO, OTHER):
        sha256 = load_photo(photo).sha256
        hit = WebFact(number=1, title=f"sight of {sha256[:6]}", url="https://example.com")
        sights.add_picture(sha256, Box(x0=0, y0=0, x1=1, y1=1), (hit,))
    export_reverse(sights, tmp_path / "sights")
    folder = tmp_path / "kept"
    folder.mkdir()
    async with rude_server(answer_with_samples("serper")) as server:
        config = config_for(server, "serper", "tape", "offline")
        settings = {**config.settings, "tape": ProviderSettings(path=str(tmp_path / "sights"))}
        config = config.model_copy(
            update={
                "settings": {**settings, "serper": settings["serper"].model_copy(update={"key_env": "PATH"})},
                "cache": f"sqlite:///{folder}/cache.sqlite",
                "outgoing_log": str(folder / "outgoing.jsonl"),
                "tape": TapeConfig(path=str(folder / "run.tape"), mode="record"),
            }
        )
        tools = local_tools(an_app().model_copy(update={"tools": config}))
        async with with_tools(an_app(), tools) as http:
            yield Kept(http, tools, folder)


async def test_an_erased_request_leaves_nothing_in_cache_tape_or_outgoing_record(kept):
    mine, other = await kept.located(PHOTO), await kept.located(OTHER)
    photo = load_photo(PHOTO).sha256
    assert kept.names(f"sight of {photo[:6]}") >= {"run.tape"}
    assert kept.names(mine) == {"outgoing.jsonl"}
    reply = await kept.http.delete(f"/locate/{mine}?erase=true")
    assert reply.json()["erased"]
    for trace in (mine, photo, f"sight of {photo[:6]}"):
        assert kept.names(trace) == set()
    # what belongs to the other request is whole, and its tape still reads
    still = load_photo(OTHER).sha256
    assert kept.names(other) == {"outgoing.jsonl"}
    assert {row.photos for row in read_tape(kept.folder / "run.tape").rows} == {(still,)}
    assert "cache.sqlite" in " ".join(kept.names(f"sight of {still[:6]}"))
    assert (await kept.http.get(f"/locate/{mine}")).status_code == 404


async def test_the_same_photo_may_come_again_after_it_was_erased(kept):
    first = await kept.located(PHOTO)
    await kept.http.delete(f"/locate/{first}?erase=true")
    await kept.located(PHOTO)
    assert "run.tape" in kept.names(load_photo(PHOTO).sha256)


async def test_a_failed_erasure_is_reported_as_one_and_can_be_tried_again(data_store):
    class Unwilling:
        willing = False
        asked = []

        async def purge(self):
            return

        async def forget(self, request_id, photos):
            self.asked.append((request_id, photos))
            if not self.willing:
                raise NotErased("the tools did not answer")

        async def aclose(self):
            return

    brokers = Unwilling()
    async with with_tools(an_app(), LocalTools(local_tools(an_app()).toolbox, brokers)) as http:
        reply = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"})
        path = f"/locate/{reply.json()['request_id']}"
        refused = await http.delete(path + "?erase=true")
        assert (refused.status_code, refused.json()["type"]) == (503, "urn:geotts:problem:not-erased")
        assert (await http.get(path)).status_code == 200
        brokers.willing = True
        assert (await http.delete(path + "?erase=true")).json()["erased"]
        assert (await http.get(path)).status_code == 404
    assert brokers.asked == 2 * [(path.removeprefix("/locate/"), (load_photo(PHOTO).sha256,))]


async def test_an_erasure_whose_remains_cannot_be_removed_says_so_and_the_next_purge_removes_them(
    data_store, tmp_path, monkeypatch
):
    def find_no_room(db):
        raise sqlite3.OperationalError("database or disk is full")

    store = SQLiteRunStore(tmp_path / "runs.sqlite", 3600)
    tools = local_tools(an_app())
    async with with_tools(an_app(), tools, store=store) as http:
        reply = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"})
        request_id = reply.json()["request_id"]
        with monkeypatch.context() as full_disk:
            full_disk.setattr(sqlite, "write_anew", find_no_room)
            refused = await http.delete(f"/locate/{request_id}?erase=true")
        assert (refused.status_code, refused.json()["type"]) == (503, "urn:geotts:problem:store-unavailable")
        assert "until its next purge" in refused.json()["detail"]
        assert (await http.get(f"/locate/{request_id}")).status_code == 404
        await store.purge()
        assert not any(request_id.encode() in path.read_bytes() for path in tmp_path.iterdir())


async def test_requests_sent_for_an_erased_request_are_not_written_down(tmp_path):
    log = EgressLog(tmp_path / "out.jsonl")
    request = Outgoing(at="2026-01-01T00:00:00Z", host="h", method="GET", url="https://h/?q=x", bytes_sent=0)
    for request_id in ("loc_1", "loc_2"):
        EGRESS.take(request_id)
        log(request.model_copy(update={"request_id": request_id}))
    assert await log.forget("loc_1") == 1
    assert (len(EGRESS.take("loc_1")), len(EGRESS.take("loc_2"))) == (1, 1)
    log(request.model_copy(update={"request_id": "loc_1"}))
    assert EGRESS.take("loc_1") == ()
    assert b"loc_1" not in (tmp_path / "out.jsonl").read_bytes()
