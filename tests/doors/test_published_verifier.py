"""`verifier.mode: trajectories` by the command line: what the model is sent, and what becomes of its answer."""

import json

import pytest
from support.chat_servers import Turn, streamed_reply
from support.endpoint import serving
from support.geotts_process import geotts

from tts.package_files import SAMPLES

PHOTO = str(SAMPLES / "town-sign-latin.jpg")  # Bellinzona
BELLINZONA = '{"lat": 46.192, "lon": 9.017, "city": "Bellinzona", "country": "Switzerland"}'
LOCARNO = '{"lat": 46.1709, "lon": 8.7995, "city": "Locarno", "country": "Switzerland"}'  # 17 km away
PARIS = '{"lat": 48.8566, "lon": 2.3522, "city": "Paris", "country": "France"}'
LISTED = {"/v1/models": {"data": [{"id": "vlm"}]}}


def rollout(body, number):
    answered = sum(message["role"] == "assistant" for message in body["messages"])
    look_up = Turn(
        "The sign names it. " + "It is blue. " * 60, "poi_keyword_search", {"query": "Bellinzona"}, reasoning="A sign."
    )
    return streamed_reply(Turn(BELLINZONA) if answered else look_up, body, reasoning_field="reasoning_content")


async def locate_photo(text, *settings, thought=PARIS, field="reasoning_content"):
    """(code, what the command printed, the answer, the one body the verifier got)."""

    def verifier(body, number):
        return streamed_reply(Turn(text, reasoning=thought), body, reasoning_field=field)

    async with serving(rollout, LISTED) as rollouts, serving(verifier, LISTED) as judge:
        engine = f'verifier.engine={{name: openai, base_url: "{judge.url}", model: qwen3-vl-8b-thinking}}'
        sets = ("verifier.kind=model", "verifier.mode=trajectories", engine, *settings)
        code, out, err = await geotts(
            "locate", PHOTO, "--json", "-n", "3", "--depth", "deep", "--endpoint", rollouts.url, "--model", "vlm",
            *(part for each in sets for part in ("--set", each)),
        )  # fmt: skip
    assert code == 0, err
    (body,) = judge.bodies
    return json.loads(out)["answer"], body


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_a_place_that_only_the_verifier_states_is_answered_with_its_own_name(field):
    answer, body = await locate_photo(f"The hills are those of the lake. {LOCARNO}", field=field)
    assert (answer["city"], answer["lat"]) == ("Locarno", pytest.approx(46.1709))
    assert "The hills are those of the lake." in answer["explanation"]
    assert "Paris" not in answer["explanation"]
    claims = [row["claim"] for row in answer["evidence"]]
    assert "Bellinzona lies 17.0 km from the point" in claims
    system, user = body["messages"]
    text, photo = user["content"]
    assert (system["role"], text["type"], photo["type"]) == ("system", "text", "image_url")
    assert "Where was this photo taken?" in text["text"]
    for part in ("[Agent 2]", "A sign.", '"name": "poi_keyword_search"', "46.19278", '"lat": 46.192'):
        assert text["text"].count(part) >= (1 if part == "[Agent 2]" else 3), part
    assert "response_format" not in body


async def test_the_ledgers_veto_holds_unless_it_is_switched_off():
    kept, _ = await locate_photo(PARIS)
    assert (kept["country"], kept["city"]) == ("Switzerland", "Bellinzona")
    followed, _ = await locate_photo(PARIS, "verifier.veto=false")
    assert (followed["country"], followed["lat"]) == ("France", pytest.approx(48.8566))
    assert not any("km from the point" in row["claim"] for row in followed["evidence"])


async def test_trajectories_that_are_too_long_lose_their_observations_and_nothing_else():
    _, body = await locate_photo(BELLINZONA, "verifier.trajectory_tokens=500")
    text = body["messages"][1]["content"][0]["text"]
    assert text.count("<tool_response>\n[cut]\n</tool_response>") == 3
    assert text.count("The sign names it.") == 3
