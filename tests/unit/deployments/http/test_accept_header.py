"""What `Accept` asks for, by RFC 9110 section 12.5.1, and where that is asked."""

import pytest
from support.service import PHOTO, an_app, talking_to

from deployments.http.accept_header import choose_media_type
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


# files and pictures have one form; monitoring has its own `Accept`; the SDK of MCP checks what that protocol asks for
SERVED_TO_ALL = (
    "/healthz",
    "/readyz",
    "/metrics",
    "/mcp",
    "/tiles/{z}/{x}/{y}.png",
    "/locate/{request_id}/map",
    "/locate/{request_id}/report",
    "/locate/{request_id}/bundle",
    "/locate/{request_id}/files/{sha256}",
)
CASE = "case_6f1d0c9a3b2e4d5f7a81"


async def doors_of(http, done):
    """Method and path of every route whose reply depends on `Accept`, for the request `done`."""
    schema = (await http.get("/openapi.json")).json()["paths"]
    assert set(SERVED_TO_ALL) <= set(schema)
    described = [(method, path) for path in schema if path not in SERVED_TO_ALL for method in schema[path]]
    ids = {"request_id": done, "response_id": f"resp_{done[4:]}", "case_id": CASE, "name": "geotts"}
    hidden = [("get", "/docs"), ("get", "/endpoints"), ("post", "/endpoints")]
    return [(method, path.format(**ids)) for method, path in [*described, *hidden]]


@pytest.mark.parametrize("accept", UNMET)
async def test_an_accept_header_that_cannot_be_met_is_refused_at_every_endpoint(data_store, accept):
    async with talking_to(an_app()) as http:
        done = (await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"})).json()["request_id"]
        doors = await doors_of(http, done)
        named = {path for _, path in doors}
        assert {"/check", f"/locate/{done}/continue", "/v1/responses", "/v1/models", "/cases", "/endpoints"} <= named
        for method, path in doors:
            if path in ("/", "/docs") and HTML in accept:
                continue
            reply = await http.request(method, path, headers={"Accept": accept})
            got = (reply.status_code, reply.headers["content-type"])
            assert got == (406, "application/problem+json"), f"{method} {path}: {got}"
            assert reply.json()["type"] == "urn:geotts:problem:not-acceptable"
            assert "offered are: " in reply.json()["detail"]


async def test_every_endpoint_that_can_reply_406_declares_it_in_the_schema(data_store):
    async with talking_to(an_app()) as http:
        schema = (await http.get("/openapi.json")).json()["paths"]
    silent = [
        (method, path)
        for path in schema
        if path not in SERVED_TO_ALL
        for method, operation in schema[path].items()
        if "406" not in operation["responses"]
    ]
    assert silent == []


async def test_a_request_refused_with_406_changes_nothing(data_store):
    unmet = {"Accept": "image/png"}
    async with talking_to(an_app()) as http:
        done = (await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"})).json()["request_id"]
        assert (await http.post("/cases", json={"title": "Square"}, headers=unmet)).status_code == 406
        assert (await http.delete(f"/locate/{done}?erase=true", headers=unmet)).status_code == 406
        assert (await http.delete(f"/v1/responses/resp_{done[4:]}", headers=unmet)).status_code == 406
        assert (await http.get("/cases")).json() == {"cases": []}
        assert (await http.get(f"/locate/{done}")).json()["status"] == "done"


@pytest.mark.parametrize("accept", [None, "*/*", "application/*", "application/json", "text/html, */*;q=0.1"])
async def test_json_is_served_to_clients_that_accept_it_or_state_nothing(data_store, accept):
    async with talking_to(an_app()) as http:
        done = (await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"})).json()["request_id"]
        response = f"/v1/responses/resp_{done[4:]}"
        for path in ("/cases", "/v1/models", "/v1/models/geotts", response, "/endpoints"):
            request = http.build_request("GET", path)
            del request.headers["Accept"]
            if accept is not None:
                request.headers["Accept"] = accept
            reply = await http.send(request)
            assert (reply.status_code, reply.headers["content-type"]) == (200, JSON), path


@pytest.mark.parametrize("accept", [SSE, JSON])
async def test_a_response_is_streamed_also_to_clients_that_always_accept_json(data_store, accept):
    async with talking_to(an_app()) as http:
        done = (await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"})).json()["request_id"]
        path = f"/v1/responses/resp_{done[4:]}?stream=true"
        reply = await http.get(path, headers={"Accept": accept})
    assert (reply.status_code, reply.headers["content-type"].partition(";")[0]) == (200, SSE)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
async def test_health_readiness_and_metrics_are_served_whatever_the_client_accepts(data_store, path):
    async with talking_to(an_app()) as http:
        assert (await http.get(path, headers={"Accept": "image/png"})).status_code == 200


@pytest.mark.parametrize(("accept", "form"), FORMS)
def test_the_form_that_is_wanted_most_is_chosen(accept, form):
    assert choose_media_type(accept, (*ANSWERS, *STREAMS)) == form


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
def test_an_invalid_media_range_is_ignored(accept):
    assert choose_media_type([accept], (*ANSWERS, *STREAMS)) == JSON


@pytest.mark.parametrize(
    ("accept", "form"),
    [([], HTML), ([BROWSER], HTML), (["*/*"], HTML), ([JSON], JSON), (["text/html;q=0.1, application/json"], JSON)],
)
def test_the_page_is_chosen_unless_the_client_prefers_json(accept, form):
    assert choose_media_type(accept, (HTML, JSON)) == form


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ([("Accept", "application/json, text/event-stream;q=0.1")], JSON),
        ([("Accept", "application/x-foo"), ("Accept", "TEXT/EVENT-STREAM")], SSE),
        ([("Accept", "application/x-ndjson, text/event-stream;q=0.5")], NDJSON),
        ([("Accept", "application/geo+json;q=0.5, application/json;q=0.4")], GEOJSON),
    ],
)
async def test_locate_replies_in_the_media_type_of_accept(data_store, accept, kind):
    async with talking_to(an_app()) as http:
        reply = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"}, headers=accept)
    assert reply.headers["content-type"].startswith(kind)


async def test_a_finished_request_is_replied_in_the_media_type_of_accept(data_store):
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
