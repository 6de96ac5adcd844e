"""The page at `/` over HTTP: what it may load, who gets the index instead, and the map of an answer."""

import io
import re
import tomllib
from fnmatch import fnmatch
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin

import pytest
from PIL import Image
from support.service import PHOTO, an_app, talking_to

from deployments.config import AccessConfig
from deployments.config.map_tiles import TileSource
from deployments.gateway.auth import fingerprint
from deployments.web.site import static_files
from tts.config import ScriptedEngine
from tts.package_files import SAMPLES

ROOT = Path(__file__).parents[4]
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
PROGRAM = {"Accept": "application/json"}
FORM = {"files": {"image": PHOTO}, "data": {"n_parallel": "1"}}
NOBODY = "/locate/loc_" + "0" * 20


@pytest.fixture
async def http(data_store):
    async with talking_to(an_app()) as client:
        yield client


@pytest.fixture
def keyed(tmp_path):
    path = tmp_path / "keys"
    path.write_text(f"desk {fingerprint('gt_desk')}\npress {fingerprint('gt_press')}\n")
    return an_app(access=AccessConfig(mode="keys", keys_file=str(path)))


def policy(reply):
    return dict(part.strip().partition(" ")[::2] for part in reply.headers["content-security-policy"].split(";"))


class _Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


async def test_a_browser_gets_the_page_under_a_strict_policy(http):
    reply = await http.get("/", headers=BROWSER)
    assert (reply.status_code, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    allowed = policy(reply)
    assert allowed["default-src"] == "'none'"
    assert allowed["script-src"] == allowed["style-src"] == allowed["connect-src"] == "'self'"
    assert allowed["img-src"] == "'self' blob:"
    assert allowed["trusted-types"] == "default"
    assert "unsafe" not in reply.headers["content-security-policy"]
    assert allowed["require-trusted-types-for"] == "'script'"
    assert allowed["frame-ancestors"] == allowed["form-action"] == allowed["base-uri"] == "'none'"
    assert reply.headers["x-frame-options"] == "DENY"
    assert reply.headers["vary"] == "Accept"
    assert reply.headers.get_list("x-content-type-options") == ["nosniff"]


async def test_the_page_has_no_inline_code_and_loads_nothing_from_other_hosts(http):
    tags = _Tags((await http.get("/", headers=BROWSER)).text).tags
    assert not [tag for tag, _ in tags if tag in ("style", "iframe", "object", "embed", "base")]
    assert not [(tag, name) for tag, attrs in tags for name in attrs if name.startswith("on") or name == "style"]
    named = [attrs.get("src") or attrs["href"] for _, attrs in tags if "src" in attrs or "href" in attrs]
    assert len(named) > 5
    for address in named:
        if not address.startswith("#"):
            assert re.match(r"[a-z]", address), address
            assert ":" not in address
            assert (await http.get(f"/{address}")).status_code == 200, address
    assert all(attrs.get("src") for tag, attrs in tags if tag == "script")


async def test_every_module_that_a_script_imports_is_served(http):
    there = static_files()
    imports = [
        (name, imported)
        for name, file in there.items()
        for imported in re.findall(r'from "\./([^"]+)"', file.data.decode())
    ]
    assert len(imports) > 8
    assert {imported for _, imported in imports} <= set(there)
    for name in there:
        reply = await http.get(f"/web/{name}")
        assert reply.status_code == 200
        assert policy(reply)["default-src"] == "'none'"
    assert (await http.get("/web/app.js")).headers["content-type"] == "text/javascript; charset=utf-8"


@pytest.mark.parametrize("file", [name for name in static_files() if name.endswith(".js")])
def test_no_script_makes_markup_from_text(file):
    source = static_files()[file].data.decode()
    found = re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|eval\(|new Function|DOMParser", source
    )
    assert not found


@pytest.mark.parametrize("headers", [PROGRAM, {"Accept": "application/json, */*;q=0.1"}])
async def test_a_client_that_is_no_browser_gets_the_index_as_json(http, headers):
    reply = await http.get("/", headers=headers)
    index = reply.json()
    assert (index["name"], index["access"], index["limits"]["photos"]) == ("GeoTTS", "off", 8)
    assert index["version"] == (await http.get("/healthz")).json()["version"]
    for name, path in index["links"].items():
        wanted = 405 if name in ("locate", "check") else 200
        assert (await http.get(path)).status_code == wanted, name
    assert reply.headers["vary"] == "Accept"


async def test_the_reference_is_readable_text(http):
    reply = await http.get("/docs")
    assert reply.headers["content-type"] == "text/plain; charset=utf-8"
    assert "## POST /locate\n" in reply.text


@pytest.mark.parametrize("headers", [{}, BROWSER])
async def test_every_link_of_the_reference_leads_somewhere(http, headers):
    reply = await http.get("/docs", headers=headers)
    titles = re.findall(r"^##+ (.+)$", reply.text, re.MULTILINE)  # of the text; a page has ids
    named = {*re.findall(r' id="([^"]+)"', reply.text), *(re.sub(r"[^a-z0-9]+", "-", one.lower()) for one in titles)}
    links = re.findall(r'(?:(?:href|src)="|\]\()([^")\s]+)', reply.text)
    assert {"/openapi.json", "/"} <= set(links)
    assert ("web/reference.js" in links) == ("html" in reply.headers["content-type"])
    for link in set(links):
        if link.startswith("#"):
            assert link[1:] in named
        else:
            assert (await http.get(urljoin("/docs", link))).status_code == 200, link


async def test_the_reference_is_a_page_in_a_browser(http):
    reply = await http.get("/docs", headers=BROWSER)
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert '<h2 id="post-locate">POST /locate</h2>' in reply.text
    assert "<table>" in reply.text
    assert "default-src 'none'" in reply.headers["content-security-policy"]


async def test_the_reference_has_every_value_and_a_place_for_every_example(http):
    text = (await http.get("/docs", headers=BROWSER)).text
    schema = (await http.get("/openapi.json")).json()
    operations = sum(len(one) for one in schema["paths"].values())
    assert text.count('<div class="try"></div>') == operations
    events = {ref["$ref"].rpartition("/")[2] for ref in schema["components"]["schemas"]["Event"]["oneOf"]}
    for name in set(schema["components"]["schemas"]) - events - {"Event"}:
        assert f'<h3 id="{name.lower()}">{name}</h3>' in text, name
    assert '<a href="#candidate">Candidate</a>' in text


async def test_the_photo_of_the_examples_is_one_that_ships(http):
    reply = await http.get("/web/sample.jpg")
    assert reply.headers["content-type"] == "image/jpeg"
    assert reply.content == (SAMPLES / "town-sign-latin.jpg").read_bytes()


async def test_every_body_that_is_json_has_an_example(http):
    bodies = [
        (path, content)
        for path, operations in (await http.get("/openapi.json")).json()["paths"].items()
        for operation in operations.values()
        for content in operation.get("requestBody", {}).get("content", {}).items()
    ]
    assert [
        path
        for path, (kind, media) in bodies
        if kind == "application/json" and not {"example", "examples"} & set(media)
    ] == []


async def test_an_unchanged_file_is_not_sent_again(http):
    first = await http.get("/web/app.js")
    again = await http.get("/web/app.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert (await http.get("/web/app.js", headers={"If-None-Match": '"other"'})).content == first.content


@pytest.mark.parametrize(
    "name", ["nothing.js", "..%2fsite.py", "../site.py", "%2e%2e/site.py", "site.py", "__init__.py"]
)
async def test_no_other_file_of_the_package_is_served(http, name):
    reply = await http.get(f"/web/{name}")
    assert reply.status_code == 404
    assert reply.headers["content-type"] == "application/problem+json"


async def test_the_page_needs_no_key_and_says_that_requests_do(data_store, keyed):
    async with talking_to(keyed) as http:
        assert (await http.get("/", headers=BROWSER)).status_code == 200
        assert (await http.get("/web/app.js")).status_code == 200
        assert (await http.get("/", headers=PROGRAM)).json()["access"] == "keys"
        assert (await http.post("/locate", **FORM)).status_code == 401


def test_the_files_of_the_page_are_in_the_package_data():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["deployments"]
    for name in static_files():
        assert any(fnmatch(f"web/static/{name}", pattern) for pattern in patterns), name


async def test_the_map_of_an_answer_is_a_picture(http):
    where = f"/locate/{(await http.post('/locate', **FORM)).json()['request_id']}/map"
    for view, size in (("answer", (640, 480)), ("world", (220, 220))):
        reply = await http.get(where, params={"view": view})
        if view == "world" and reply.status_code == 204:
            continue
        assert (reply.status_code, reply.headers["content-type"]) == (200, "image/jpeg")
        assert reply.headers["content-security-policy"] == "default-src 'none'"
        with Image.open(io.BytesIO(reply.content)) as picture:
            assert picture.size == size
    assert (await http.get(where, params={"view": "moon"})).status_code == 422
    assert (await http.get(f"{NOBODY}/map")).status_code == 404


async def test_the_report_of_an_answer_is_a_file_that_runs_nothing(http):
    request_id = (await http.post("/locate", **FORM)).json()["request_id"]
    reply = await http.get(f"/locate/{request_id}/report")
    assert (reply.status_code, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert reply.headers["content-security-policy"] == "default-src 'none'"
    assert f'filename="{request_id}.html"' in reply.headers["content-disposition"]
    assert "Paris" in reply.text
    assert (await http.get(f"{NOBODY}/report")).status_code == 404


async def test_without_a_point_there_is_no_map(data_store, tmp_path):
    tape = tmp_path / "tape.jsonl"
    tape.write_text('{"text": "{\\"lat\\": null, \\"lon\\": null, \\"country\\": \\"\\"}"}\n')
    async with talking_to(an_app(ScriptedEngine(tape=str(tape)))) as http:
        body = (await http.post("/locate", **FORM)).json()
        assert body["answer"]["abstained"]
        reply = await http.get(f"/locate/{body['request_id']}/map")
        assert (reply.status_code, reply.json()["detail"]) == (404, "there is no map: the answer has no point")


async def test_before_the_answer_there_is_no_map(data_store):
    async with talking_to(an_app(ScriptedEngine(turns=3, tokens_per_turn=4, turn_s=30.0))) as http:
        where = (await http.post("/locate", **FORM, headers={"Prefer": "respond-async"})).headers["location"]
        reply = await http.get(f"{where}/map")
        assert (reply.status_code, reply.json()["detail"]) == (404, "there is no map: there is no answer yet")


async def test_a_map_belongs_to_its_key(data_store, keyed):
    async with talking_to(keyed) as http:
        desk, press = ({"Authorization": f"Bearer gt_{name}"} for name in ("desk", "press"))
        where = f"/locate/{(await http.post('/locate', **FORM, headers=desk)).json()['request_id']}/map"
        assert (await http.get(where, headers=desk)).status_code == 200
        assert (await http.get(where, headers=press)).status_code == 404
        assert (await http.get(where)).status_code == 401


TILES = TileSource(name="Streets", url="https://{s}.tiles.example/{z}/{x}/{y}.png", attribution="those who drew it")


async def test_the_page_offers_maps_of_the_operator_and_may_load_only_those_from_elsewhere(data_store):
    async with talking_to(an_app(map_tiles=(TILES,))) as http:
        assert policy(await http.get("/", headers=BROWSER))["img-src"] == "'self' blob: https://*.tiles.example"
        (offered,) = (await http.get("/", headers=PROGRAM)).json()["map_tiles"]
        assert (offered["name"], offered["url"], offered["max_zoom"]) == ("Streets", TILES.url, 19)


@pytest.mark.parametrize(
    "url",
    [
        "https://tiles.example/{z}/{x}.png",
        "ftp://tiles.example/{z}/{x}/{y}.png",
        "https://tiles.example; script-src *//{z}/{x}/{y}.png",
        "//tiles.example/{z}/{x}/{y}.png",
        "https://user:word@tiles.example/{z}/{x}/{y}.png",
    ],
)
def test_an_invalid_tile_url_is_refused_at_the_start(url):
    with pytest.raises(ValueError, match="tile URL"):
        TileSource(name="x", url=url)


async def test_the_index_says_which_engine_answers_and_what_it_sees(http):
    engine = (await http.get("/", headers=PROGRAM)).json()["engine"]
    assert engine == {"name": "scripted", "model": engine["model"], "hosts": [], "sees_pictures": False}


async def test_leaflet_is_served_by_the_service(http):
    for name, kind in (("leaflet.js", "text/javascript"), ("leaflet.css", "text/css")):
        reply = await http.get(f"/web/{name}")
        assert (reply.status_code, reply.headers["content-type"].split(";")[0]) == (200, kind)
    assert "Leaflet 1.9" in (await http.get("/web/leaflet.js")).text[:200]


async def test_a_tile_is_a_picture_that_need_not_be_sent_twice(http):
    reply = await http.get("/tiles/5/17/11.png")
    assert (reply.status_code, reply.headers["content-type"]) == (200, "image/png")
    assert "max-age" in reply.headers["cache-control"]
    with Image.open(io.BytesIO(reply.content)) as picture:
        assert picture.size == (256, 256)
    again = await http.get("/tiles/5/17/11.png", headers={"If-None-Match": reply.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("tile", ["3/8/0", "0/0/1", "11/0/0", "2/-1/0", "x/0/0"])
async def test_a_tile_outside_the_world_is_not_found(http, tile):
    assert (await http.get(f"/tiles/{tile}.png")).status_code == 404
