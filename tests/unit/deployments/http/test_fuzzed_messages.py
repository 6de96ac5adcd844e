"""Messages of MCP and bodies of `/v1/responses` with everything wrong that a generator finds: no 5xx, nothing left.

`GEOTTS_FUZZ=5000` sends that many; the usual number is small, because each starts with a real request over a socket.
"""

import asyncio
import json
import os
import random
from collections import Counter
from typing import Any

import httpx
import pytest
from support.basics import leftover_tasks
from support.service import PHOTO, an_app, idle, serving

COUNT = int(os.environ.get("GEOTTS_FUZZ", "400"))
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**70,
    1e308,
    "",
    "x" * 3000,
    "\x00\ud83d",
    [],
    {},
    [[]],
    {"a": {"b": []}},
    "geotts://runs/../map",
)
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "fuzz", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
METHODS = (
    "initialize", "server/discover", "tools/list", "tools/call", "resources/list", "resources/read",
    "resources/templates/list", "prompts/list", "ping", "notifications/cancelled", "notifications/initialized",
    "subscriptions/listen", "completion/complete", "tasks/get", "x/y",
)  # fmt: skip


def mcp_message(luck, ticket, earlier):
    name, arguments = luck.choice(
        [
            ("locate_photo", {"upload": ticket, "n_parallel": 1}),
            ("locate_photo", {"upload": [ticket, ticket], "budget": luck.choice(["60-tokens", {"tokens": 60}])}),
            ("locate_photo", {"url": "https://127.0.0.1/"}),
            ("check_claim", {"upload": ticket, "n_parallel": 1, "claim": "Paris"}),
            ("continue_photo", {"request_id": earlier, "not_there": ["Paris"], "fact": "rain", "within": "FR"}),
            ("geocode", {"address": "Rome"}),
            ("country_at", {}),
            ("nothing", {}),
        ]
    )
    params = {
        "name": name,
        "arguments": arguments,
        "uri": f"geotts://runs/loc_{'0' * 20}/{luck.choice(['map', 'report'])}",
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "fuzz", "version": "1"},
        "_meta": {**META, "progressToken": 1},
    }
    return {"jsonrpc": "2.0", "id": luck.randrange(9), "method": luck.choice(METHODS), "params": params}


def response_body(luck, ticket, earlier):
    image = {"type": "input_image", "file_id": ticket}
    return {
        "model": "geotts-direct",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "Where?"}, image]}],
        "stream": luck.random() < 0.5,
        "background": luck.random() < 0.2,
        "previous_response_id": luck.choice([None] * 9 + [f"resp_{earlier.removeprefix('loc_')}"]),
        "store": luck.choice([True, None]),
        "text": {"format": {"type": "text"}},
        "tools": [],
        "geotts": {"n_parallel": 1, "within": None},
    }


def damage_tree(luck, node):
    """A copy with some of its values replaced, dropped or doubled."""
    if luck.random() < 0.12:
        return luck.choice(ODD)
    if isinstance(node, dict):
        kept = {name: damage_tree(luck, one) for name, one in node.items() if luck.random() > 0.05}
        return kept | ({"x": luck.choice(ODD)} if luck.random() < 0.1 else {})
    return [damage_tree(luck, one) for one in node] * luck.choice([1, 1, 1, 2]) if isinstance(node, list) else node


def a_request(luck, ticket, earlier):
    if luck.random() < 0.6:
        message = mcp_message(luck, ticket, earlier)
        version = luck.choice(["2026-07-28"] * 3 + ["2025-11-25"] * 3 + ["2024-11-05", "1999-01-01", "", "é"])
        headers = {
            "Accept": luck.choice(["application/json, text/event-stream"] * 9 + ["image/png", ""]),
            "MCP-Method": luck.choice([message["method"]] * 4 + ["tools/call", ""]),
            "MCP-Name": luck.choice([message["params"]["name"]] * 4 + ["locate_photo", ""]),
            **({"MCP-Protocol-Version": version.encode()} if version else {}),
        }
        path = "/mcp"
    else:
        message, path = response_body(luck, ticket, earlier), "/v1/responses"
        headers = {"Accept": luck.choice(["*/*", "application/json", "text/event-stream"])}
    body = json.dumps(message if luck.random() < 0.15 else damage_tree(luck, message)).encode()
    if luck.random() < 0.05:
        body = body[: luck.randrange(len(body) + 1)] + bytes(luck.choices(range(256), k=5))
    kind = luck.choice(["application/json"] * 9 + ["text/plain"])
    return path, body, {"Content-Type": kind, **headers}


@pytest.mark.slow
async def test_no_fuzzed_message_breaks_the_service_or_leaves_a_task_running(data_store):
    luck = random.Random(20)
    codes: Counter[tuple[str, int]] = Counter()
    args = an_app(max_in_flight=500, default_deadline_s=5.0)
    async with serving(args) as (url, gateway), httpx.AsyncClient(base_url=url, timeout=30) as http:
        ticket = (await http.post("/uploads", content=PHOTO)).json()["upload_id"]
        located = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"})
        earlier = located.json()["request_id"]

        async def send(path, body, headers):
            reply = await http.post(path, content=body, headers=headers)
            codes[path, reply.status_code] += 1
            assert reply.status_code < 500, (path, headers, body, reply.text[:300])
            assert b"Traceback" not in reply.content

        for _ in range(0, COUNT, 20):
            await asyncio.gather(*(send(*a_request(luck, ticket, earlier)) for _ in range(20)))
        await idle(gateway)
        assert codes["/mcp", 200] > COUNT / 50
        assert codes["/v1/responses", 200] > COUNT / 50
        assert (await http.get("/healthz")).status_code == 200
    async with asyncio.timeout(10):
        while any(not name.startswith("Task-") for name in leftover_tasks()):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    print(dict(codes))
