"""GeoAgent's geocoder, as it is served, against made-up replies of OpenCage."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.made_up_replies import http_failure
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs, excluded_row
from tools.released.geoagent_geocoder import geocoder_tool
from tts.domain.request import RequestContext
from tts.domain.tooling import ToolCall
from tts.ports.toolbox import ToolContext
from tts.rewards.released.geoagent_geocoder import URL, Reply, parameters
from tts.toolkit.toolbox import LocalToolbox

_REMAINING_S = 60.0


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Call the geocoder over the row's replies; compare requests, their number and what is returned."""
    if any("fails" in exchange["reply"] for exchange in row["requests"]):
        return excluded_row("the words of a failing connection are not in the row")
    source = _MadeUpOpenCage(row["requests"])
    tool = geocoder_tool(source)
    call = ToolCall(id="c", name=tool.spec.name, arguments=row["arguments"])
    context = ToolContext(RequestContext(id="conformance", remaining_s=_REMAINING_S))
    result = (await LocalToolbox([tool]).call(call, context)).result
    return compare_pairs(
        requests=([_without_key(exchange) for exchange in row["requests"]], _requests_once(source.asked)),
        request_count=(row["request_count"], len(source.asked)),
        returned=(row["returned"], json.loads(result.text)),
    )


class _MadeUpOpenCage:
    """An `AddressSource` that answers as a row says, and keeps what it was asked."""

    name = "opencage"
    needs_network = False

    def __init__(self, requests: Sequence[Mapping[str, Any]]) -> None:
        self._replies = {str(exchange["params"]["q"]): exchange["reply"] for exchange in requests}
        self.asked: list[dict[str, JsonValue]] = []

    async def ask(self, address: str, context: RequestContext) -> Reply:
        query = parameters(address)
        self.asked.append(query)
        reply = self._replies[query["q"]]
        failure = http_failure(reply)
        return Reply(reply.get("body")) if failure is None else Reply(failure=failure)


def _without_key(query: Mapping[str, Any]) -> JsonValue:
    params = {name: value for name, value in query["params"].items() if name != "key"}
    return [query["method"], query["url"], params]


def _requests_once(asked: list[dict[str, JsonValue]]) -> list[JsonValue]:
    """The corpus lists a repeated request once and counts it."""
    found: list[JsonValue] = []
    for params in asked:
        entry: JsonValue = ["GET", URL, params]
        if entry not in found:
            found.append(entry)
    return found
