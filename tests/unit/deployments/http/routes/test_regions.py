"""A sign with the name of several towns, by every door: the answer has regions, the same ones everywhere."""

import json
from typing import Any

import pytest
from geojson_pydantic import FeatureCollection, MultiPolygon
from shapely.geometry import Point, shape
from support.basics import sign_bytes
from support.service import serving, talking_to

from deployments.config import AppArgs
from geotts_client import Answer, Client, LocateOptions

SIGN = sign_bytes("Springfield")
FORM = {"n_parallel": "1", "seed": "1", "deadline_s": "60"}


@pytest.fixture
def app():
    return AppArgs()  # the embedded engine reads the sign


async def test_json_sse_ndjson_and_geojson_have_the_same_regions(app, data_store):
    async with talking_to(app) as http:
        whole = (await http.post("/locate", files={"image": SIGN}, data=FORM)).json()
        answer = Answer.model_validate(whole["answer"])
        again = f"/locate/{whole['request_id']}"
        stream = (await http.get(f"{again}/events")).text
        lines = (await http.get(f"{again}/events", headers={"Accept": "application/x-ndjson"})).text
        features = (await http.get(again, headers={"Accept": "application/geo+json"})).text
    region = answer.region_90.jsonable()
    MultiPolygon.model_validate(region)
    assert len(answer.region_90.coordinates) >= 2
    assert shape(answer.region_50.jsonable()).covers(Point(answer.lon, answer.lat))
    streamed = [json.loads(line[5:]) for line in stream.splitlines() if line.startswith("data:")]
    events = [json.loads(line) for line in lines.splitlines() if line]
    for event_list in (streamed, events):
        assert [one["answer"]["region_90"] for one in event_list if one.get("type") == "answer"] == [region]
    read: FeatureCollection[Any] = FeatureCollection.model_validate_json(features)
    drawn = {feature.properties["role"]: feature for feature in read.features}
    assert shape(drawn["region_90"].geometry.model_dump()).equals(shape(region))
    assert shape(drawn["region_50"].geometry.model_dump()).within(shape(region))


async def test_the_client_gets_regions_as_typed_values(app, data_store):
    async with serving(app) as (url, _), Client(url) as client:
        answer = (await client.locate(SIGN, LocateOptions(n_parallel=1, seed=1))).answer
    (ring,), *_ = answer.region_90.coordinates
    assert ring[0] == ring[-1]
    assert answer.region_50.type == "MultiPolygon"
