"""What every provider that is shown a region of the photo owes its caller, beside what all providers owe."""

import re

import pytest
from support.provider_calls import REGION, REGIONS, call, consenting_context
from support.provider_server import answer_with_samples

from tts.config import RegionSearchConfig
from tts.domain.outgoing_request import Outgoing
from tts.domain.tooling import ToolCall, WebFact
from tts.errors import ToolErrorKind
from tts.toolkit.broker.broker import Broker
from tts.toolkit.broker.cache_store import MemoryStore


@pytest.mark.parametrize("provider", REGIONS)
async def test_hits_of_regions_are_normalised(provide, provider):
    async with provide(provider) as (_, catalog):
        result = (await call(catalog, "image_search", **REGION)).result
    assert result.ok, result.text
    assert [fact.number for fact in result.facts] == list(range(1, len(result.facts) + 1))
    assert len({fact.url for fact in result.facts}) == len(result.facts) > 1
    for fact in result.facts:
        assert isinstance(fact, WebFact)
        assert fact.url.startswith("https://")
        assert fact.title
        assert not re.search(r"<\w+>|&amp;", fact.title + fact.snippet)
    assert any(fact.url == "https://guide.example/otaru-canal" for fact in result.facts)


@pytest.mark.parametrize("provider", REGIONS)
async def test_pages_with_the_photo_itself_are_hidden_like_photo_hosts(provide, provider):
    async with provide(provider) as (server, catalog):
        broker = Broker(catalog.tools, MemoryStore())
        ask = ToolCall(id="c", name="image_search", arguments=REGION)
        everything = (await broker.call(ask, consenting_context())).result
        hidden = (await broker.call(ask, consenting_context(hide_photo_hosts=True))).result
    telling = {fact.url for fact in everything.facts} - {fact.url for fact in hidden.facts}
    assert telling == {
        "https://www.flickr.com/photos/somebody/1" if provider == "serper_lens" else "https://blog.example/walk"
    }
    assert not any(url in hidden.text for url in telling)
    assert hidden.cached
    assert len(server.seen) == 1


async def test_the_name_of_a_picture_is_not_in_the_record(provide):
    records: list[Outgoing] = []
    async with provide("serpapi_lens", record=records.append) as (server, catalog):
        assert (await call(catalog, "image_search", **REGION)).result.ok
    name = server.seen[0].query["url"].rpartition("/")[2].removesuffix(".jpg")
    assert len(name) == 43
    assert [record.method for record in records] == ["OFFER", "GET", "WITHDRAW"]
    assert name not in repr(records)


@pytest.mark.parametrize("provider", REGIONS)
@pytest.mark.parametrize(("allowed", "consents"), [(True, False), (False, True), (False, False)])
async def test_regions_are_sent_only_when_operator_and_request_agree(provide, provider, allowed, consents):
    records: list[Outgoing] = []
    region_search = RegionSearchConfig(allowed=allowed)
    context = consenting_context(allow_region_search=consents)
    async with provide(provider, "offline", region_search=region_search, record=records.append) as (server, catalog):
        failure = (await call(catalog, "image_search", context=context, **REGION)).result.failure
    assert failure.kind is (ToolErrorKind.NOT_ALLOWED if allowed else ToolErrorKind.UNKNOWN_TOOL)
    assert (server.seen, records) == ([], [])


async def test_results_of_a_request_with_consent_are_not_shown_to_one_without(provide):
    async with provide("google_vision") as (server, catalog):
        broker = Broker(catalog.tools, MemoryStore())
        ask = ToolCall(id="c", name="image_search", arguments=REGION)
        assert (await broker.call(ask, consenting_context())).result.ok
        refused = (await broker.call(ask, consenting_context(allow_region_search=False))).result
    assert refused.failure.kind is ToolErrorKind.NOT_ALLOWED
    assert refused.facts == ()
    assert len(server.seen) == 1


@pytest.mark.parametrize("provider", REGIONS)
async def test_the_released_search_by_picture_asks_the_same_services_under_the_same_rules(provide, provider):
    name, boxes = "image_search.reverse.image_search_tool", [[0, 0, 500, 500], [100, 100, 900, 900]]
    ask = ToolCall(id="c", name=name, arguments={"written": {"bbox_2d": boxes, "goal": "the canal"}})
    async with provide(provider, system="reverse") as (server, catalog):
        broker = Broker(catalog.tools, MemoryStore())
        refused = (await broker.call(ask, consenting_context(allow_region_search=False))).result
        assert (refused.failure.kind, server.seen) == (ToolErrorKind.NOT_ALLOWED, [])
        everything = (await broker.call(ask, consenting_context())).result
        assert len(server.seen) == 2
        hidden = (await broker.call(ask, consenting_context(hide_photo_hosts=True))).result
    assert everything.ok, everything.text
    assert everything.text.startswith("Image search results for region [0, 0, 500, 500] (goal: the canal):\n\n[1] ")
    assert "    Source: guide.example\n    Link: https://guide.example/otaru-canal" in everything.text
    assert {"flickr", "blog.example"} & {word for word in ("flickr", "blog.example") if word in everything.text}
    assert not any(word in hidden.text for word in ("flickr", "blog.example"))
    assert "guide.example" in hidden.text
    assert not any(b"canal" in seen.body for seen in server.seen)  # the goal stays here


async def test_the_next_region_search_provider_serves_if_the_first_fails(provide):
    well = answer_with_samples("google_vision")
    answer = lambda seen: "status/503" if seen.path == "/lens" else well(seen)  # noqa: E731
    async with provide("serper_lens", "google_vision", answer=answer) as (server, catalog):
        result = (await call(catalog, "image_search", **REGION)).result
    assert {fact.source for fact in result.facts} == {"Google Vision"}
    assert [seen.path for seen in server.seen] == ["/lens", "/v1/images:annotate"]


@pytest.mark.parametrize(
    ("provider", "status", "reply"),
    [
        ("serpapi_lens", 429, {"error": "Your account has run out of searches."}),
        ("serper_lens", 400, {"message": "Not enough credits", "statusCode": 400}),
        ("google_vision", 400, {"error": {"status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}),
        ("google_vision", 403, {"error": {"status": "PERMISSION_DENIED"}}),
    ],
)
async def test_used_up_and_refused_keys_of_region_search_are_quota(provide, provider, status, reply):
    from support.rude_server import as_json

    async with provide(provider, answer=lambda seen: as_json(reply, status=status)) as (_, catalog):
        assert (await call(catalog, "image_search", **REGION)).result.failure.kind is ToolErrorKind.QUOTA
        assert catalog.figures()[provider].usable_keys == 0
