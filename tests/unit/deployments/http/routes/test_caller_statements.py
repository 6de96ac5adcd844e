"""Area, ruled-out places and hint hold on every way to an answer: also where a model follows the caller against the
sign, and where the verifier fails. By `POST /locate`."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx
import pytest
from support.endpoint import serving as an_endpoint
from support.endpoint import text_chunks
from support.service import serving

from deployments.config import AppArgs
from deployments.wiring.bundle_replay import replay_bundle
from deployments.wiring.local import local_ports
from tts.assembly import NOT_COMPARED
from tts.bundle.check_bundle import checked_entries
from tts.config import OpenAIEngine
from tts.errors import ModelError
from tts.package_files import SAMPLES

KYIV = '{"lat": 50.45, "lon": 30.52, "level": "city", "city": "Kyiv", "country": "Ukraine"}'
READ = '<tool_call>{"name": "read_text", "arguments": {"bbox": [0, 0, 1, 1]}}</tool_call>'
TOWN = SAMPLES / "town-sign-latin.jpg"


class Dead:
    """A verifier that fails."""

    async def verify(self, request):
        raise ModelError("it is gone")
        yield

    async def aclose(self):
        return None


class NeverRates:
    """A locator that does not finish in time, as on a machine that is too busy."""

    async def rate(self, photos, context):
        await asyncio.sleep(3600)


class Late(Dead):
    """A verifier that does not answer in time."""

    async def verify(self, request):
        await asyncio.sleep(3600)
        yield


def reading_first(body, number):
    """It has the sign read, and answers Kyiv all the same."""
    return text_chunks(KYIV if any(message["role"] == "assistant" for message in body["messages"]) else READ)


@asynccontextmanager
async def a_service(verifier=None, locator=None, play=lambda body, number: text_chunks(KYIV)):
    """Its model answers Kyiv, whatever the photo shows."""
    async with an_endpoint(play) as endpoint:
        engine = OpenAIEngine(base_url=endpoint.url, model="m")
        args = AppArgs(engine=engine)
        ports = local_ports(args)
        ports = ports if verifier is None else replace(ports, verifier=verifier)
        ports = ports if locator is None else replace(ports, locator=locator)
        async with serving(args, ports=ports) as (url, _), httpx.AsyncClient(base_url=url, timeout=60) as http:
            yield http


async def answer_of(http, more_photos=(), **asked):
    form = {"n_parallel": "2", "depth": "deep", "deadline_s": "20", **asked}
    reply = await http.post("/locate", files=[("image", TOWN.read_bytes()), *more_photos], data=form)
    assert reply.status_code == 200, reply.text
    return reply.json()["answer"]


async def test_an_answer_warns_that_the_text_was_not_read_in_time_to_compare_the_hint(data_store):
    async with a_service(locator=NeverRates()) as http:
        with_hint, without = await asyncio.gather(
            answer_of(http, depth="direct", deadline_s="3", hint="Bellinzona"),
            answer_of(http, depth="direct", deadline_s="3"),
        )
    assert NOT_COMPARED in with_hint["warnings"]
    assert NOT_COMPARED not in without["warnings"]


async def test_a_bundle_of_an_answer_for_which_no_text_was_read_replays_to_the_byte(data_store):
    form = {"n_parallel": "2", "depth": "direct", "deadline_s": "3", "hint": "Bellinzona"}
    async with a_service(locator=NeverRates()) as http:
        reply = await http.post("/locate", files=[("image", TOWN.read_bytes())], data=form)
        bundle = (await http.get(f"/locate/{reply.json()['request_id']}/bundle")).content
    assert NOT_COMPARED in reply.json()["answer"]["warnings"]
    assert (await replay_bundle(checked_entries(bundle), AppArgs())).is_equal


async def test_a_model_that_repeats_the_hint_against_the_sign_does_not_confirm_it(data_store):
    sentence = (
        "Your hint says Kyiv (Ukraine), but the photo says Bellinzona (Switzerland). The answer repeats the hint; no "
        "lookup confirmed it."
    )
    async with a_service(play=reading_first) as http:
        answer = await answer_of(http, hint="Kyiv")
    assert answer["explanation"].startswith(sentence)
    assert answer["contradictions"] == [{"about": "hint", "text": sentence}]
    assert (answer["hint"]["outcome"], answer["hint"]["place"]) == ("contradicted", "Kyiv (Ukraine)")
    (claim,) = [evidence for evidence in answer["evidence"] if evidence["claim"].startswith("the caller says")]
    assert claim["supports"] is False


async def test_a_denial_that_the_model_ignores_is_not_said_to_agree(data_store):
    async with a_service(play=reading_first) as http:
        answer = await answer_of(http, hint="not in Ukraine")
    assert (answer["country"], answer["hint"]["outcome"]) == ("Ukraine", "unchecked")
    assert answer["hint"]["text"].startswith("Your hint says not in Ukraine, and the text in the photo agrees.")


@pytest.mark.parametrize(
    "plan", [{"depth": "direct"}, {"depth": "deep"}, {"depth": "auto", "n_parallel": "1"}], ids=str
)
async def test_the_sign_is_read_where_the_caller_says_something_whatever_the_plan(data_store, plan):
    """The model reads nothing itself, and with such a plan nothing has to be rated."""
    others = [("image", (SAMPLES / name).read_bytes()) for name in ("station-arabic.jpg", "station-chinese.jpg")]
    async with a_service() as http:
        inside, with_hint, several = await asyncio.gather(
            answer_of(http, **plan, within="Ukraine"),
            answer_of(http, **plan, hint="Bellinzona"),
            answer_of(http, others, **plan),
        )
    assert inside["explanation"].startswith(
        "The photo says Bellinzona (Switzerland), outside the area you gave (Ukraine)."
    )
    assert (inside["abstained"], inside["contradictions"][0]["about"]) == (True, "within")
    assert with_hint["hint"]["outcome"] == "unchecked"
    agrees = "The text in the photo agrees with your hint: Bellinzona (Switzerland). The answer lies in Kyiv"
    assert with_hint["hint"]["text"].startswith(agrees)
    assert with_hint["hint"]["text"].endswith("; no lookup confirmed it.")
    assert several["explanation"].startswith("These photos cannot be of the same place: photo 1 says Bellinzona")
    assert [part["country"] for part in several["per_photo"]] == ["Switzerland", "", "China"]


@pytest.mark.slow
@pytest.mark.parametrize("verifier", [Dead(), Late()])
async def test_the_area_and_the_ruled_out_places_hold_without_a_verdict_too(data_store, verifier):
    async with a_service(verifier) as http:
        plain, inside, outside, elsewhere, *ruled_out = await asyncio.gather(
            answer_of(http),
            answer_of(http, within="Ukraine", hint="Kyiv"),
            answer_of(http, within="IT"),
            answer_of(http, within="45,9,300"),
            answer_of(http, not_there="Ukraine"),
            answer_of(http, not_there="Kyiv City"),
            answer_of(http, not_there="50.45,30.58,4"),  # edges are half a kilometre wide
        )
    assert (plain["lat"], plain["hint"]) == (50.45, None)
    assert (inside["lat"], inside["hint"]["outcome"]) == (50.45, "unchecked")
    for answer in (outside, elsewhere, *ruled_out):
        assert (answer["abstained"], answer["lat"], answer["country"]) == (True, None, "")
        assert (
            "every place that a rollout found is outside the area, or may lie in a place that was ruled out"
            in answer["warnings"]
        )
