"""What `Accept` asks for, by RFC 9110 section 12.5.1, and where that is asked."""

import pytest
from support.service import PHOTO, an_app, talking_to

from deployments.http.accept_header import preferred
from deployments.http.replies import ANSWERS, GEOJSON, JSON, NDJSON, SSE, STREAMS

HTML = "text/html"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"

FORMS = [
    ([], JSON),
    ([""], JSON),
    (["*/*"], JSON),
    (["application/*"], JSON),
    (["application/json, text/event-stream;q=0.1"], JSON),
    (["text/event-stream;q=0, application/json"], JSON),
    (["text/event-stream;q=0, */*"], JSON),
    (["application/json, text/event-stream"], JSON),
    (["text/event-stream, application/json"], JSON),
    (["application/problem+json, */*"], JSON),
    (["text/event-stream"], SSE),
    (["TEXT/EVENT-STREAM;Q=1"], SSE),
    (["text/event-stream; charset=utf-8"], SSE),
    (["text/event-stream, */*;q=0.5"], SSE),
    (["text/event-stream, */*"], SSE),
    (["text/*"], SSE),
    (["application/x-foo", "text/event-stream"], SSE),
    (["application/x-ndjson, text/event-stream;q=0.5"], NDJSON),
    (["application/json;q=0.4, application/geo+json;q=0.5"], GEOJSON),
    (["application/json;q=0, application/*;q=0.1"], GEOJSON),
]


UNMET = [
    "image/png",
    "text/event-stream-x",
    "text/html, application/xml",
    "application/json;q=0",
    "*/*;q=0",
    'a/b;c="d,text/event-stream"',
]


@pytest.mark.parametrize("accept", UNMET)
async def test_what_cannot_be_met_is_refused_at_every_door(data_store, accept):
    chat = {"messages": [{"role": "user", "content": "where?"}]}
    headers = {"Accept": accept}
    async with talking_to(an_app()) as http:
        done = (await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"})).json()["request_id"]
        for reply in (
            await http.post("/locate", files={"image": PHOTO}, headers=headers),
            await http.get(f"/locate/{done}", headers=headers),
            await http.get(f"/locate/{done}/events", headers=headers),
            await http.post("/v1/chat/completions", json=chat, headers=headers),
        ):
            assert (reply.status_code, reply.headers["content-type"]) == (406, "application/problem+json")
            assert reply.json()["type"] == "urn:geotts:problem:not-acceptable"
            assert "offered are: " in reply.json()["detail"]


@pytest.mark.parametrize(("accept", "form"), FORMS)
def test_the_form_that_is_wanted_most_is_chosen(accept, form):
    assert preferred(accept, (*ANSWERS, *STREAMS)) == form


@pytest.mark.parametrize(
    "accept",
    [
        "text/event-stream;q=",
        "text/event-stream;q=nan",
        "text/event-stream;q=2",
        ",;,",
        "ÿ",
    ],
)
def test_what_is_no_range_asks_for_nothing(accept):
    assert preferred([accept], (*ANSWERS, *STREAMS)) == JSON


@pytest.mark.parametrize(
    ("accept", "form"),
    [([], HTML), ([BROWSER], HTML), (["*/*"], HTML), ([JSON], JSON), (["text/html;q=0.1, application/json"], JSON)],
)
def test_the_page_is_for_who_does_not_prefer_the_index(accept, form):
    assert preferred(accept, (HTML, JSON)) == form


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ([("Accept", "application/json, text/event-stream;q=0.1")], JSON),
        ([("Accept", "application/x-foo"), ("Accept", "TEXT/EVENT-STREAM")], SSE),
        ([("Accept", "application/x-ndjson, text/event-stream;q=0.5")], NDJSON),
        ([("Accept", "application/geo+json;q=0.5, application/json;q=0.4")], GEOJSON),
    ],
)
async def test_locate_replies_in_that_form(data_store, accept, kind):
    async with talking_to(an_app()) as http:
        reply = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"}, headers=accept)
    assert reply.headers["content-type"].startswith(kind)


async def test_a_request_is_read_again_in_that_form(data_store):
    async with talking_to(an_app()) as http:
        made = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"})
        where = f"/locate/{made.json()['request_id']}"

        async def kind(path, accept):
            return (await http.get(path, headers={"Accept": accept})).headers["content-type"].partition(";")[0]

        assert await kind(where, "application/geo+json;q=0, */*") == JSON
        assert await kind(where, "Application/Geo+JSON") == GEOJSON
        assert await kind(f"{where}/events", "text/*") == SSE
        assert await kind(f"{where}/events", "text/event-stream;q=0.1, application/x-ndjson") == NDJSON
        assert await kind("/", BROWSER) == HTML
        assert await kind("/", "text/html;q=0, application/json") == JSON
