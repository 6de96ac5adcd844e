"""GeoAgent's geocoder against made-up replies of OpenCage."""

from __future__ import annotations

from typing import Any

from pydantic import JsonValue

from deployments.conformance.corpus import Corpus, Row
from deployments.conformance.judged import Judged, compared, declared
from deployments.conformance.made_up import http_failure
from tts.rewards.released.opencage import URL, Reply, Result, ask, parameters


async def judge(row: Row, corpus: Corpus) -> Judged:
    if any("fails" in sent["reply"] for sent in row["requests"]):
        return declared("the words of a failing connection are not in the row")
    replies = {str(sent["params"]["q"]): sent["reply"] for sent in row["requests"]}
    asked: list[dict[str, JsonValue]] = []
    conversation = ask(row["arguments"]["address"])
    result: Result
    address = next(conversation)
    while True:
        sent = parameters(address)
        asked.append(sent)
        try:
            address = conversation.send(_reply(replies[sent["q"]]))
        except StopIteration as stop:
            result = stop.value
            break
    return compared(
        requests=([_without_key(sent) for sent in row["requests"]], _once(asked)),
        request_count=(row["request_count"], len(asked)),
        returned=(row["returned"], result),
    )


def _reply(reply: dict[str, Any]) -> Reply:
    failure = http_failure(reply)
    return Reply(reply.get("body")) if failure is None else Reply(failure=failure)


def _without_key(sent: dict[str, Any]) -> JsonValue:
    params = {name: value for name, value in sent["params"].items() if name != "key"}
    return [sent["method"], sent["url"], params]


def _once(asked: list[dict[str, JsonValue]]) -> list[JsonValue]:
    """The corpus lists a repeated request once and counts it."""
    found: list[JsonValue] = []
    for params in asked:
        entry: JsonValue = ["GET", URL, params]
        if entry not in found:
            found.append(entry)
    return found
