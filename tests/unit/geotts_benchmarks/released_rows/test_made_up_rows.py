"""Rows of the project's own in the form of the corpus, about what its rows do not show: odd boxes, replies, points."""

import json

import pytest
from click.testing import CliRunner

from geotts_benchmarks.cli import command

LOOK_ALIKE = {"pos": 1, "title": "Pier", "url": "https://pier.example/p", "domain": "pier.example"}
LENS = "made-up lens"


@pytest.fixture
def differing(tmp_path):
    """Which rows of a system differ and why, as the command says it."""

    def run(system, file, rows, declared=0):
        folder = tmp_path / system
        folder.mkdir()
        (folder / f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        done = CliRunner().invoke(command, ["conformance", "--corpus", str(tmp_path), "--show"])
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout.splitlines()[-1])["by_system"][system][file]
        assert (found["rows"], found["declared"]) == (len(rows), declared)
        return [line.strip() for line in done.stderr.splitlines() if line.strip().startswith("differ")]

    return run


def tool_response(text):
    return [{"role": "user", "content": f"<tool_response>\n{text}\n</tool_response>"}]


def picture_search(number, box, reply, text, *, status=200, asked=1):
    provider = {"service": LENS, "status": status, "reply": reply}
    return {
        "id": f"reverse/eval/image_search_tool/{number}", "path": "eval", "tool": "image_search_tool",
        "arguments": {"bbox_2d": box}, "provider": provider, "request_count": asked, "messages": tool_response(text),
    }  # fmt: skip


def text_search(number, query, reply, text):
    return {
        "id": f"reverse/eval/text_search_tool/{number}", "path": "eval", "tool": "text_search_tool",
        "arguments": {"query": query}, "provider": {"service": "made-up pages", "status": 200, "reply": reply},
        "messages": tool_response(text),
    }  # fmt: skip


def lens(*organic):
    return {"results": [{"content": {"results": {"organic": [*organic]}}}]}


def test_a_picture_search_with_an_odd_box_or_reply_spoils_no_later_row(differing):
    one = "[1] Pier\n    Source: pier.example\n    Link: https://pier.example/p"
    call, api = "Tool call error: ", "Image search failed (API error): "
    bad_gateway = "502 Server Error: made up for url: https://provider.test/"
    good = lens(LOOK_ALIKE)
    rows = [
        picture_search(1, [], good, f"{call}Invalid bbox_2d: []", asked=0),
        picture_search(2, ["a", 1, 2, 3], good, f"{call}could not convert string to float: 'a'", asked=0),
        picture_search(3, [1, 2, 3], good, f"{call}not enough values to unpack (expected 4, got 3)", asked=0),
        picture_search(4, [10, 200, 600, 700], {"nope": 1}, f"{api}'results'"),
        picture_search(5, [11, 200, 600, 700], [], f"{api}list indices must be integers or slices, not str"),
        picture_search(6, [12, 200, 600, 700], good, f"Image search results for region [12, 200, 600, 700]:\n\n{one}"),
        picture_search(7, [13, 200, 600, 700], {"message": "x"}, f"{api}{bad_gateway}", status=502, asked=4),
    ]
    assert differing("reverse", "tools", rows) == []


def test_malformed_search_results_are_shown_as_the_released_code_shows_them(differing):
    rows = [
        text_search(1, "q", {"nope": 1}, "No results found for query: q"),
        text_search(2, "q", {"results": None}, "Tool call error: 'NoneType' object is not iterable"),
        text_search(3, "q", [], "Tavily search failed: 'list' object has no attribute 'get'"),
        text_search(4, "q", {"results": [{"url": "https://a.example"}]},
                    "Web search results for: q\n\n[1] \nURL: https://a.example"),
    ]  # fmt: skip
    assert differing("reverse", "tools", rows) == []


def test_a_crop_that_pillow_refuses_is_refused_in_its_words(differing):
    text = (
        "Tool call error: Image size (7620480000 pixels) exceeds limit of 178956970 pixels, "
        "could be decompression bomb DOS attack."
    )
    row = {
        "id": "reverse/eval/image_zoom_in_tool/1", "path": "eval", "tool": "image_zoom_in_tool",
        "arguments": {"bbox_2d": [0, 0, 100_000, 100_000]}, "provider": None, "messages": tool_response(text),
    }  # fmt: skip
    assert differing("reverse", "tools", [row]) == []


def test_distances_of_geovista_come_as_numbers_or_as_points(differing):
    rows = [
        {"id": "geovista/reward/1", "kind": "distance", "value": 111.195079734632, "input": given}
        for given in (
            {"lat1": 0, "lon1": 0, "lat2": 0, "lon2": 1},
            {"p1": {"lat": 0, "lng": 0}, "p2": {"latitude": "0", "longitude": 1}},
        )
    ]
    rows[1]["id"] = "geovista/reward/2"
    assert differing("geovista", "rewards", rows) == []


def test_results_that_no_public_service_gives_are_declared_for_geovista(differing):
    page = {"title": "Pier", "href": "https://pier.example", "body": "A pier."}
    call = '<tool_call>{\n  "name": "search_web",\n  "arguments": {\n    "query": "pier"\n  }\n}</tool_call>'
    found = json.dumps({"name": "search_web", "query": "pier", "result": [page]}, indent=2)
    text = f"<tool_response>For {call}, the search results are as follows:\n{found}</tool_response>"
    providers = [{"reply": [page]}, {"reply": [{**page, "score": 1}]}, {"reply": None}, {"fails": "RuntimeError"}]
    rows = [
        {
            "id": f"geovista/search_web/{number}", "path": "eval", "tool": "search_web", "provider": provider,
            "arguments": {"query": "pier"}, "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}],
        }
        for number, provider in enumerate(providers)
    ]  # fmt: skip
    assert differing("geovista", "tools", rows, declared=3) == []
