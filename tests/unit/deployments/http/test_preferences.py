"""`Prefer` (RFC 7240): what is understood of it, and that nothing in it can break a request."""

import pytest
from support.service import PHOTO, an_app, talking_to


@pytest.fixture
async def http(data_store):
    async with talking_to(an_app()) as client:
        yield client


@pytest.mark.parametrize("seconds", [b"\xb2", b"9" * 5000, b"-1", b"1.5", b"", b"0", b"\xd9\xa3"])
async def test_a_wait_that_is_no_number_of_seconds_is_ignored(http, seconds):
    made = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"})
    where = f"/locate/{made.json()['request_id']}"
    reply = await http.get(where, headers=[(b"Prefer", b"wait=" + seconds)])
    assert reply.status_code == 200


@pytest.mark.parametrize(
    "lines", [["respond-async; foo=bar"], ["wait=1", "respond-async"], ["Respond-Async ; a"], ['x="1", respond-async']]
)
async def test_preferences_may_come_on_several_lines_and_with_parameters(http, lines):
    asked = [("Prefer", line) for line in lines]
    reply = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"}, headers=asked)
    assert reply.status_code == 202
    waited = await http.get(reply.headers["location"], headers=[("Prefer", "foo"), ("Prefer", "wait=20; bar")])
    assert waited.json()["status"] == "done"
