"""How often a gateway asks the endpoints of its engines is what the documentation says."""

import asyncio
import functools
import re

import httpx
import pytest
from support.basics import virtual_time
from support.docs_blocks import ROOT

from deployments.config import AppArgs
from deployments.endpoints.watch import EndpointWatch
from tts.config import OpenAIEngine
from tts.inference.openai.endpoint.states import EndpointStates

_STATED = re.compile(r"Every (\d+) s,\s+each gateway (?:asks|checks)")


@pytest.mark.parametrize("document", ["docs/endpoints.md", "docs/operating.md"])
@virtual_time
async def test_an_endpoint_is_asked_as_often_as_the_documentation_says(monkeypatch, document):
    (every_s,) = map(float, _STATED.findall((ROOT / document).read_text()))
    loop = asyncio.get_running_loop()
    asked_at = []

    def answer(request):
        asked_at.append(loop.time())
        return httpx.Response(200, json={"data": []})

    client = functools.partial(httpx.AsyncClient, transport=httpx.MockTransport(answer))
    monkeypatch.setattr(httpx, "AsyncClient", client)
    watch = EndpointWatch(AppArgs(engine=OpenAIEngine(base_url="http://127.0.0.1:9/v1", model="m")), EndpointStates())
    watch.start()
    await asyncio.sleep(2.5 * every_s)
    await watch.aclose()
    assert [at - asked_at[0] for at in asked_at] == pytest.approx([0.0, every_s, 2 * every_s])
