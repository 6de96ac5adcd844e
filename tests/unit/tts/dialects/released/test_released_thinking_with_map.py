"""Thinking with Map as released, over made-up replies: what runs, what is read, what ends a rollout, who answers."""

import asyncio
import json
from typing import Any

import pytest
from support.played_rollouts import PlayedTransport, made_photo, played_rollout, played_toolbox

from tts.dialects import DIALECTS
from tts.dialects.base import Surroundings
from tts.dialects.settings import DialectSettings
from tts.domain.answer import StopReason
from tts.domain.geo import Countries, LatLon
from tts.errors import ConfigError

ANSWER = '{"lat": 30.25, "lon": 120.15, "city": "Somewhere", "country": "China"}'
TIPS = {"status": "1", "tips": [{"id": "B1", "name": "茶馆", "address": [], "typecode": "05", "city": []}]}
ZOOM = {"bbox_2d": [100, 200, 600, 700]}


def dialect(**settings):
    return DIALECTS["thinking_with_map"].with_settings(DialectSettings(behaviour="released", **settings))


def call(name, arguments):
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments}, ensure_ascii=False)}\n</tool_call>"


def play(*outputs, provider=None, speaker=None, **before):
    """A rollout over one made-up reply, and the requests that reached the network."""

    async def run():
        chosen = speaker or dialect(tool_set="amap")
        path = chosen.settings.released_path
        transport = PlayedTransport(provider) if provider is not None else None
        system = "thinking_with_map_demo" if path == "demo" else "thinking_with_map"
        async with played_toolbox(system, transport) as toolbox:
            played = await played_rollout(chosen, toolbox, made_photo(1008, 756), outputs, **before)
        return played, transport.requests if transport else []

    return asyncio.run(run())


def read(played):
    """What the model reads after its first turn."""
    return [message.text for message in played.appended_messages() if message.role == "tool"]


def test_the_first_call_runs_and_the_others_are_not_answered():
    played, _ = play(call("image_zoom_in_tool", ZOOM) + call("image_zoom_in_tool", ZOOM), ANSWER)
    assert read(played) == ["Zoomed in on the image to the region [100, 200, 600, 700]."]
    assert played.finished.stop_reason is StopReason.ANSWERED


@pytest.mark.parametrize(
    "output",
    ["I do not know.", '<tool_call>{"name": "image_zoom_in_tool"', "<TOOL_CALL>{}</TOOL_CALL>", ""],
)
def test_a_turn_without_a_call_that_can_be_read_ends_the_rollout_uncorrected(output):
    played, _ = play(output, ANSWER)
    assert len(played.requests) == 1
    assert (played.finished.stop_reason, played.finished.answer) == (StopReason.FAILED, None)


def test_the_answer_is_the_first_strict_object_of_the_whole_response():
    first = ANSWER.replace("30.25", "31.5")
    played, _ = play(f"{first} Let me check.\n{call('image_zoom_in_tool', ZOOM)}", ANSWER)
    assert round(played.finished.answer.point.lat, 2) in (31.5, 31.51)  # GCJ-02 turned to WGS-84


def test_calls_of_the_eighth_turn_do_not_run():
    played, _ = play(call("image_zoom_in_tool", ZOOM), ANSWER, turns_before=7)
    assert played.calls == []
    assert len(played.requests) == 1
    seventh, _ = play(call("image_zoom_in_tool", ZOOM), ANSWER, turns_before=6)
    assert len(seventh.calls) == 1


def test_a_tool_result_that_would_reach_the_token_limit_is_left_out():
    long = {"status": "1", "tips": [{"id": "B1", "name": "x" * 300}]}
    played, _ = play(call("amap_input_tips", {"query": "a"}), ANSWER, provider={"reply": long}, tokens_before=3800)
    assert len(played.calls) == 1
    assert len(played.requests) == 1
    assert played.finished.stop_reason is StopReason.BUDGET


def test_a_name_reaches_its_own_provider_whatever_the_script():
    for query in ("茶馆", "tea house"):
        _, requests = play(call("amap_input_tips", {"query": query}), ANSWER, provider={"reply": TIPS})
        assert requests == [
            {"method": "GET", "url": f"https://restapi.amap.com/v3/assistant/inputtips?keywords={query}&key=<key>"}
        ]
    google = dialect(tool_set="google")
    for query, language in (("茶馆", "zh-CN"), ("茶の館", "en-US"), ("tea house", "en-US")):
        reply: dict[str, Any] = {"reply": {"organic": []}}
        played, requests = play(call("google_search", {"query": query}), ANSWER, provider=reply, speaker=google)
        assert requests[0]["json"] == {"q": query, "hl": language}
        assert read(played) == ['"```\n\n```"']


def test_texts_are_those_of_the_authors_server():
    played, _ = play(call("amap_input_tips", {"query": "茶"}), ANSWER, provider={"reply": TIPS})
    assert read(played) == ['"id: B1\n name: 茶馆\n address: []\n typecode: 05\n city: []"']
    none, _ = play(call("amap_input_tips", {"query": "茶"}), ANSWER, provider={"reply": {"status": "1", "tips": []}})
    assert read(none) == ['"Api call failed for query: 茶"']
    wrong, _ = play(call("amap_input_tips", {"keywords": "茶"}), ANSWER, provider={"reply": TIPS})
    assert "'query' is missing" in read(wrong)[0]
    unknown, _ = play(call("teleport", {}), ANSWER)
    assert read(unknown) == ["Error when executing tool: 'teleport'"]


def test_long_texts_are_cut_and_pictures_stand_before_the_text():
    many = {"status": "1", "tips": [{"id": f"B{i}", "name": "x" * 60} for i in range(40)]}
    played, _ = play(call("amap_input_tips", {"query": "a"}), ANSWER, provider={"reply": many})
    assert (len(read(played)[0]), read(played)[0][-14:]) == (1024 + 14, "...(truncated)")
    zoomed, _ = play(call("image_zoom_in_tool", ZOOM), ANSWER)
    assert [part.kind for part in zoomed.appended_messages()[1].parts] == ["image", "text"]


@pytest.mark.parametrize(
    ("box", "size"),
    [
        ([500, 500, 510, 510], (38, 29)),  # grown around its centre
        ([995, 995, 1000, 1000], (38, 28)),  # pushed inside
        ([900, 900, 1100, 1000], (202, 76)),  # black beyond the edge
        ([600, 200, 100, 700], None),
        ([0, 0, 1000, 5], None),  # grown, but too long for its height
        ([1, 2, 3], None),
    ],
)
def test_crops_have_the_size_of_the_authors(box, size):
    played, _ = play(call("image_zoom_in_tool", {"bbox_2d": box}), ANSWER)
    shown = [(image.width, image.height) for message in played.appended_messages() for image in message.images]
    assert shown == ([size] if size else [])


def test_the_tool_set_is_chosen_by_the_area_or_the_point_of_the_leader():
    chooses = dialect()
    assert chooses.for_surroundings(Surroundings()).tool_set == "google"
    assert chooses.for_surroundings(Surroundings(within=Countries(codes=("CN",)))).tool_set == "amap"
    assert chooses.for_surroundings(Surroundings(leader=LatLon(lat=30.2, lon=120.1))).tool_set == "amap"
    assert chooses.for_surroundings(Surroundings(Countries(codes=("CN",)), LatLon(lat=54, lon=10))).tool_set == "google"
    assert (
        dialect(tool_set="google").for_surroundings(Surroundings(leader=LatLon(lat=30.2, lon=120.1))).tool_set
        == "google"
    )
    assert (dialect(tool_set="amap").datum, dialect(tool_set="google").datum) == ("GCJ-02", "WGS-84")


@pytest.mark.parametrize("name", ["spotagent", "geo_adapt", "generic"])
def test_released_behaviour_is_refused_for_a_dialect_without_public_code(name):
    with pytest.raises(ConfigError, match="not public"):
        DIALECTS[name].with_settings(DialectSettings(behaviour="released"))


def test_unknown_tool_sets_and_released_paths_are_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match="amap, google"):
        dialect(tool_set="bing")
    with pytest.raises(ConfigError, match="verl, demo"):
        dialect(released_path="train")


def test_the_notebook_runs_every_call_and_answers_in_json():
    demo = dialect(released_path="demo")
    output = f"Hm.\n{call('amap_input_tips', {'keywords': '茶'})}\n{call('image_zoom_in_tool', ZOOM)} I wait."
    played, _ = play(output, ANSWER, provider={"reply": TIPS}, speaker=demo)
    assert len(played.calls) == 2
    first, second = read(played)
    assert json.loads(first)["tips"][0]["name"] == "茶馆"
    assert "ValidationError: 'label' is a required property" in second
    assert played.appended_messages()[0].text.endswith("</tool_call>")  # what follows the last call is dropped
    sampling = demo.sampling(rollout_id=0, n=1, seed=0, turn=0, max_tokens=100)
    assert (sampling.temperature, sampling.top_k, sampling.presence_penalty) == (0.7, 20, 1.5)


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("{'name': 'x', 'arguments': {'a': 'b',},}", "x", '{"a": "b"}'),
        ('{name: "x", arguments: {a: .5, /* half */ b: 0x10}}', "x", '{"a": 0.5, "b": 16}'),
        ('{"name": "x", "arguments": {"a": "b"}', "x", '{"a": "b"'),
        ("zoom please", "", ""),
    ],
)
def test_the_notebook_reads_json5_and_cuts_the_rest_out_of_the_text(text, name, arguments):
    from tts.dialects.released.thinking_with_map.demo_tool_parser import CallMessage, taken_apart

    assert taken_apart(f"<tool_call>\n{text}\n</tool_call>") == (CallMessage(name, arguments),)
