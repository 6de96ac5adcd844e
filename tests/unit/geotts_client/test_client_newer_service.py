"""A client goes on working with a service that is newer than itself: it reads past what it does not know."""

import json

import httpx
import pytest

from geotts_client import Client, NotFound
from geotts_client.answer import Answer, RunCount, StopReason, Timing
from geotts_client.events import Answered, Done

ANSWER = Answer(
    lat=46.19,
    lon=9.02,
    radius_km={"p50": 1.0, "p90": 5.0},
    level="city",
    abstained=False,
    city="Bellinzona",
    confidence=0.8,
    target_radius_km=25,
    n=RunCount(asked=1, planned=1, run=1, answered=1),
    stop_reason=StopReason.ANSWERED,
    timing=Timing(total_s=1.0),
)


def with_new_fields(tree):
    """The same JSON with one field more in every object of the first two levels."""
    more = {key: {**value, "weather": "fine"} if isinstance(value, dict) else value for key, value in tree.items()}
    return {**more, "since_0_2": [1, 2]}


def frames():
    answered = Answered(seq=2, answer=ANSWER)
    done = Done(seq=3, stop_reason=StopReason.ANSWERED)
    trees = [
        {"type": "weather_changed", "seq": 1, "to": "rain"},
        with_new_fields(answered.jsonable()),
        with_new_fields(done.jsonable()),
    ]
    return "".join(f"id: {tree['seq']}\nevent: {tree['type']}\ndata: {json.dumps(tree)}\n\n" for tree in trees)


def reply(request):
    if request.method == "DELETE":
        problem = {"type": "urn:geotts:problem:not-found", "title": "x", "status": 404, "detail": "no such request"}
        return httpx.Response(404, json=with_new_fields(problem))
    if request.method == "GET":
        return httpx.Response(
            200, json=with_new_fields({"request_id": "r", "status": "done", "answer": ANSWER.jsonable()})
        )
    return httpx.Response(200, text=frames(), headers={"X-Request-Id": "r", "Content-Type": "text/event-stream"})


async def test_unknown_events_and_fields_are_passed_over():
    async with Client("http://service", transport=httpx.MockTransport(reply)) as client:
        run = await client.locate(b"photo")
        assert run.answer == ANSWER
        assert (await client.status("r")).answer == ANSWER
        with pytest.raises(NotFound, match="no such request"):
            await client.cancel("r")
