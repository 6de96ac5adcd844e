"""Rows of the project's own about GeoVista, in the form of the corpus: distances, and results of no public service."""

import json
from functools import partial

import pytest
from support.made_up_rows import differing_rows


@pytest.fixture
def differing(tmp_path):
    return partial(differing_rows, tmp_path)


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
