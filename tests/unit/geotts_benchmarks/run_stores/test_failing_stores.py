"""How a request ended, as `geotts bench abuse` counts it: what nobody declared, and a 200 without an answer."""

import pytest
from support.rude_server import as_json, rude_server

from geotts_benchmarks.run_stores.failing_stores import HARMS, QUICK, Server, _ask


def lines(*kinds):
    return (
        200,
        {"content-type": "application/x-ndjson"},
        b"".join(b'{"type": "%s"}\n' % kind.encode() for kind in kinds),
    )


@pytest.mark.parametrize(
    ("reply", "stream", "ended"),
    [
        (lines("accepted", "answer", "done"), True, "answered"),
        (lines("accepted", "error", "done"), True, "failed"),
        (lines("accepted", "done"), True, "undeclared"),
        (lines("accepted", "answer"), True, "undeclared"),
        (as_json({"answer": {"lat": 1}}), False, "answered"),
        (as_json({"answer": None}), False, "wrong 200"),
        (as_json({}, status=503), False, "refused"),
        ("reset", True, "undeclared"),
    ],
)
async def test_each_end_of_a_request_has_its_name(reply, stream, ended):
    async with rude_server(lambda seen: reply) as server:
        assert await _ask(server.url, stream=stream) == ended


def test_a_quick_run_tries_some_of_the_harms():
    assert set(QUICK) < set(HARMS)


async def test_a_redis_that_was_not_started_can_be_stopped(tmp_path):
    server = Server(tmp_path)
    assert server.url == f"redis://127.0.0.1:{server.port}/0"
    await server.stop()
