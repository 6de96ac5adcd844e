"""Every dialect from photo to answer: its prompt, its corrections, and what is made of its replies."""

import json

import pytest
from support.basics import golden, virtual_time
from support.dialect_rollouts import HEFEI, OTARU, play, toolbox

from tts.dialects import DIALECTS
from tts.dialects.base import Completion, Task
from tts.dialects.settings import DialectSettings
from tts.domain.answer import StopReason
from tts.domain.geo import LatLon, distance_km
from tts.domain.hypothesis import Level
from tts.domain.plan import Limits
from tts.domain.tooling import ToolCall
from tts.errors import ConfigError
from tts.geodata.datum import to_gcj02
from tts.inference.scripted.engine import ScriptedCall, ScriptedTurn


def call(name, **arguments):
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


JSON_ANSWER = '{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"}'

# A conversation of each dialect: something unusable corrected, a call, a tool error, a spent budget, the forced answer.
SCRIPTS = {
    "generic": (
        Limits(max_turns=6, max_tool_calls=3, max_tokens=50_000),
        "It looks like Japan.",
        ScriptedTurn(
            text="A sign says Otaru.",
            calls=(
                ScriptedCall(name="poi_keyword_search", arguments={"query": "Otaru"}),
                ScriptedCall(name="teleport"),
            ),
        ),
        ScriptedTurn(calls=(ScriptedCall(name="poi_keyword_search", arguments={"query": "Atlantis"}),)),
        f"So it is there.\n```json\n{JSON_ANSWER}\n```",
    ),
    "thinking_with_map": (
        Limits(max_turns=8, max_tool_calls=5, max_tokens=50_000),
        "Hypothesis: China, Anhui. I should look closer. <tool_call>{\"name\": \"image_zoom_in_tool\", \"argu",
        "Hypothesis: China, Anhui.\n" + call("image_zoom_in_tool", bbox_2d=[100, 200, 600, 700], label="sign"),
        call("amap_keyword_search", query="Hefei"),
        call("amap_poi_detail", query="p2"),
        call("amap_static_map", latitude=31.8186, longitude=117.2346),
        call("amap_poi_detail", query="p99"),
        'Done: {"lat": 31.8186, "lon": 117.2346, "city": "Hefei", "country": "China"}',
    ),
    "reverse": (
        Limits(max_turns=6, max_tool_calls=13, max_tokens=50_000),
        "<think>A canal with warehouses.</think>",
        "<think>Search by picture.</think>\n" + call("image_search_tool", bbox_2d=[0, 0, 1000, 500], goal="canal"),
        "<think>Result 1 fits.</think>\n<useful>[1]</useful>\n" + call("text_search_tool", query=["Otaru canal", "x"]),
        "<think>Closer.</think>\n<useful>[2]</useful>\n" + call("image_zoom_in_tool", bbox_2d=[100, 100, 500, 500]),
        "<think>Once more.</think>\n" + call("text_search_tool", query="nothing"),
        "<think>Enough.</think>\n<answer>Japan, Otaru, Hokkaido, 43.19, 140.99</answer>",
    ),
    "spotagent": (
        Limits(max_turns=64, max_tool_calls=3, max_tokens=50_000),
        "<think>Japanese signs.</think>\n"
        "<answer>\nCountry: Japan\nCity: Otaru\nLatitude: unknown\nLongitude: unknown\n</answer>",
        "<think>Read the sign.</think>\n" + call("image_zoom_in_tool", bbox_2d=[80, 50, 400, 240]),
        "<think>Where is it?</think>\n" + call("maps_geocode", address="Otaru, Japan"),
        "<think>Anything else?</think>\n" + call("search_web", query="nothing"),
        "<think>Sure.</think>\n<answer>\nCountry: Japan\nCity: Otaru\nLatitude: 43.19\nLongitude: 140.99\n</answer>",
    ),
    "geovista": (
        Limits(max_turns=64, max_tool_calls=3, max_tokens=50_000),
        "<think>A town with a canal.</think>",
        "<think>Read the sign.</think>\n" + call("image_zoom_in_tool", bbox_2d=[80, 50, 400, 240]),
        "<think>Look it up.</think>\n" + call("search_web", query="Otaru canal"),
        "<think>Sure.</think>\n<answer>Otaru Canal, Otaru, Hokkaido, Japan</answer>",
    ),
    "geoagent": (
        Limits(),
        '{"ChainOfThought": {"CountryIdentification": {"Clues": ["kanji"]',
        '{"ChainOfThought": {"CountryIdentification": {"Clues": ["kanji"], "Reasoning": "Japanese script.", '
        '"Conclusion": "Japan", "Uncertainty": "Low"}, "RegionalGuess": {"Clues": ["snow poles"], "Reasoning": "Deep '
        'snow.", "Conclusion": "Hokkaido", "Uncertainty": "Medium"}, "PreciseLocalization": {"Clues": ["canal"], '
        '"Reasoning": "A canal with warehouses.", "Conclusion": "Otaru", "Uncertainty": "High"}}, '
        '"FinalAnswer": "Japan; Hokkaido; Otaru City"}',
    ),
    "geo_adapt": (
        Limits(),
        "<think><depth>deep</depth> Kanji, a canal.</think>\n<answer>\nCountry: Japan\nCity: Otaru\n</answer>",
        "<think><depth>deep</depth> Kanji, a canal.</think>\n<answer>\nCountry: Japan\nCity: Otaru\n"
        "Estimated Coordinates: 43°11'24\"N, 140°59'24\"E\n</answer>",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_each_dialect_gets_from_the_photo_to_an_answer(name, sign_photo):
    limits, *turns = SCRIPTS[name]

    @virtual_time
    async def run():
        played = await play(DIALECTS[name], sign_photo, *turns, limits=limits)
        assert len(played.requests) == len(turns)
        assert played.end.stop_reason is StopReason.ANSWERED
        golden(f"conversations/{name}.md", played.page())

    run()


def test_every_dialect_has_a_conversation():
    assert set(SCRIPTS) == set(DIALECTS)


def parse_text(name, text, **changes):
    return DIALECTS[name].parse(Completion(text, **changes), turn=2)


def test_sampling_differs_by_rollout_and_the_first_stays_greedy_in_greedy_dialects():
    def drawn(name, rollout_id, n):
        sampling = DIALECTS[name].sampling(rollout_id=rollout_id, n=n, seed=5, turn=0, max_tokens=100_000)
        return sampling.temperature, sampling.top_p, sampling.top_k

    for name in ("generic", "reverse", "spotagent", "geoagent", "geo_adapt"):
        assert drawn(name, 0, 1) == drawn(name, 0, 4) == (0.0, 1.0, -1)
        assert drawn(name, 3, 4) == (0.7, 0.95, -1)
    assert drawn("thinking_with_map", 0, 1) == (0.7, 0.8, 20)
    assert drawn("thinking_with_map", 0, 4) == drawn("thinking_with_map", 3, 4) == (1.0, 0.95, 60)


@pytest.mark.parametrize(
    ("name", "turns", "calls", "tokens"),
    [
        ("thinking_with_map", 8, 8, 4096),
        ("reverse", 10, 13, 16384),
        ("spotagent", 7, 6, 4096),
        ("geoagent", 2, 0, 4096),
    ],
)
def test_the_limits_of_published_dialects_are_the_published_ones(name, turns, calls, tokens):
    assert DIALECTS[name].limits == Limits(max_turns=turns, max_tool_calls=calls, max_tokens=tokens)


@pytest.mark.parametrize(
    ("name", "box"),
    [
        ("thinking_with_map", [250, 500, 750, 1000]),
        ("reverse", [250, 500, 750, 1000]),
        ("spotagent", [203, 238, 609, 476]),  # 800x480 becomes 812x476 under Qwen2.5-VL's rule
    ],
)
def test_boxes_are_read_in_the_terms_of_the_model(name, box, sign_photo):
    made = DIALECTS[name].to_tool(
        ToolCall(id="c", name="image_zoom_in_tool", arguments={"bbox_2d": box}), (sign_photo,)
    )
    assert made.name == "image_zoom"
    assert made.arguments["bbox"] == pytest.approx([0.25, 0.5, 0.75, 1.0])


@pytest.mark.parametrize("box", ["[250, 500, 750, 1000]", [[250, 500, 750, 1000]]])
def test_a_box_may_stand_in_a_text_or_alone_in_a_list(box, sign_photo):
    call = ToolCall(id="c", name="image_zoom_in_tool", arguments={"bbox_2d": box})
    assert DIALECTS["reverse"].to_tool(call, (sign_photo,)).arguments["bbox"] == [0.25, 0.5, 0.75, 1.0]


def test_the_point_of_a_map_is_turned_from_the_datum_of_the_model_also_where_it_is_a_text():
    seen = to_gcj02(HEFEI.point)
    for lat, lon in ((seen.lat, seen.lon), (f"{seen.lat}", f"{seen.lon}° E")):
        call = ToolCall(id="c", name="amap_static_map", arguments={"latitude": lat, "longitude": lon})
        made = DIALECTS["thinking_with_map"].to_tool(call, ()).arguments
        assert distance_km(LatLon(lat=made["latitude"], lon=made["longitude"]), HEFEI.point) < 0.001


@pytest.mark.parametrize("box", [None, "here", "[1, 2", "7", [], [1, 2, 3], [1, 2, 3, "4"], [True, 0, 1, 1]])
def test_an_invalid_box_is_passed_unchanged_to_the_tool(box, sign_photo):
    call = ToolCall(id="c", name="image_zoom_in_tool", arguments={"bbox_2d": box})
    assert DIALECTS["reverse"].to_tool(call, (sign_photo,)).arguments["bbox"] == box


@virtual_time
async def test_wrong_arguments_are_explained_in_the_terms_of_the_tool_that_was_called(sign_photo):
    played = await play(DIALECTS["reverse"], sign_photo, call("image_zoom_in_tool", bbox_2d=[9, 9]), REVERSE_ANSWER)
    assert "do not fit image_zoom_in_tool(bbox_2d, label?)" in played.requests[1].messages[-1].text


REVERSE_ANSWER = "<answer>Japan, Otaru, 43.19, 140.99</answer>"


@virtual_time
async def test_a_tool_is_run_only_as_often_as_the_dialect_allows(sign_photo):
    search = call("image_search_tool", bbox_2d=[0, 0, 1000, 1000])
    played = await play(DIALECTS["reverse"], sign_photo, search, search, search, search, REVERSE_ANSWER)
    assert "may be called 3 times only" in played.requests[-1].messages[-1].text
    assert played.end.usage.tool_errors == 1


@virtual_time
async def test_thinking_with_map_speaks_gcj02_and_answers_in_wgs84(sign_photo):
    seen = to_gcj02(HEFEI.point)
    assert distance_km(seen, HEFEI.point) > 0.3
    output = json.dumps({"lat": seen.lat, "lon": seen.lon, "city": "Hefei", "country": "China"})
    played = await play(DIALECTS["thinking_with_map"], sign_photo, output)
    assert played.answer.datum == "WGS-84"
    assert distance_km(played.answer.point, HEFEI.point) < 0.001
    wgs = DIALECTS["thinking_with_map"].with_settings(DialectSettings(datum="WGS-84"))
    assert (await play(wgs, sign_photo, output)).answer.point == seen


@virtual_time
async def test_the_token_limit_of_thinking_with_map_covers_what_tools_return(sign_photo):
    turn = call("amap_input_tips", query="Hefei")
    limits = Limits(max_tokens=160)
    played = await play(DIALECTS["thinking_with_map"], sign_photo, *[turn] * 8, JSON_ANSWER, limits=limits)
    assert played.end.usage.completion_tokens < 100
    assert "token budget" in played.requests[-1].messages[-1].text


@virtual_time
async def test_tool_text_is_cut_for_thinking_with_map(sign_photo):
    long = "x" * 390
    played = await play(DIALECTS["thinking_with_map"], sign_photo, call("google_search", query=long), JSON_ANSWER)
    text = played.requests[1].messages[-1].text
    assert text.endswith("[truncated]")
    assert len(text) == 1024 + len("\n[truncated]")


@virtual_time
async def test_useful_marks_of_reverse_become_evidence_with_their_call(sign_photo):
    played = await play(
        DIALECTS["reverse"],
        sign_photo,
        call("text_search_tool", query=["a", "b"]),
        "<useful>[3, 99]</useful>" + call("image_zoom_in_tool", bbox_2d=[0, 0, 500, 500]),
        REVERSE_ANSWER,
    )
    (claim,) = played.answer.claims
    assert (claim.call_id, claim.quote) == ("call_0_0", "b: a canal town")
    assert played.hypotheses[0].claims == (claim,)
    none = await play(
        DIALECTS["reverse"], sign_photo, call("text_search_tool", query="a"), "<useful>[]</useful>" + REVERSE_ANSWER
    )
    assert none.answer.claims == ()


@virtual_time
async def test_a_mark_of_reverse_that_is_nested_too_deeply_loses_no_answer(sign_photo):
    played = await play(DIALECTS["reverse"], sign_photo, f"<useful>{'[' * 5000}]</useful>{REVERSE_ANSWER}")
    assert (played.answer.point, played.answer.claims) == (LatLon(lat=43.19, lon=140.99), ())


GEOAGENT_TAGGED = (
    '<think>{"CountryIdentification": {"Clues": ["kanji"], "Reasoning": "r", "Conclusion": "Japan", "Uncertainty": '
    '"10%"}}</think><answer>Japan; Hokkaido; Otaru</answer>'
)


@virtual_time
async def test_geoagents_levels_become_the_explanation_and_its_names_a_point(sign_photo):
    played = await play(DIALECTS["geoagent"], sign_photo, GEOAGENT_TAGGED)
    answer = played.answer
    assert (answer.point, answer.level, answer.country_code) == (OTARU.point, Level.CITY, "JP")
    assert answer.reasoning == "CountryIdentification: r → Japan (uncertainty: 10%)"
    assert answer.confidence == pytest.approx(0.9)
    assert [claim.text for claim in answer.claims] == ["kanji", "the answer was looked up: Otaru"]


@virtual_time
async def test_names_of_geoagent_are_looked_up_from_fine_to_coarse_in_their_country(sign_photo):
    nowhere = await play(DIALECTS["geoagent"], sign_photo, '{"FinalAnswer": "Peru; Cusco; Ollantaytambo"}')
    queries = [asked.arguments["address"] for asked in nowhere.calls]
    assert queries == ["Ollantaytambo, Cusco, Peru", "Cusco, Peru", "Peru"]
    assert (nowhere.answer.point, nowhere.answer.level) == (None, Level.CITY)
    elsewhere = await play(DIALECTS["geoagent"], sign_photo, '{"FinalAnswer": "Peru; ; Otaru"}')
    assert elsewhere.answer.point is None
    refused = await play(DIALECTS["geoagent"], sign_photo, GEOAGENT_TAGGED, tools=("image_zoom",))
    assert refused.answer.point is None


def test_geo_adapt_may_abstain_and_says_how_deep_it_wants_to_think():
    found = parse_text(
        "geo_adapt",
        "<think>Depth: deep\nSnow.</think>"
        "<answer>**Country:** Norway\nCity: Unknown\nEstimated Coordinates: Unknown</answer>",
    ).answer
    assert (found.point, found.level, found.country, found.wants_depth) == (None, Level.COUNTRY, "Norway", "deep")
    assert found.reasoning.endswith("Snow.")
    vague = "<answer>Country: Norway\nCity: Oslo\nEstimated Coordinates: somewhere north</answer>"
    assert parse_text("geo_adapt", vague).problem


@pytest.mark.parametrize(
    ("text", "city"),
    [
        ("<answer>Japan, Otaru, 43.19, 140.99</answer>", "Otaru"),
        ("<answer>Japan, Otaru, Hokkaido, 43.19° N, 140.99° E</answer>", "Otaru, Hokkaido"),
        ("<answer>Japan，Otaru，43.19，140.99", "Otaru"),
        ("<think><answer>Peru, Lima, 1, 2</answer></think><answer>Japan, Otaru, 43.19, 140.99</answer>", "Otaru"),
    ],
)
def test_reverse_answers_in_one_line(text, city):
    found = parse_text("reverse", text).answer
    assert (found.country, found.city, found.point) == ("Japan", city, LatLon(lat=43.19, lon=140.99))


@pytest.mark.parametrize(
    "text",
    [
        "<answer>**France; Île-de-France; Paris**</answer>",
        '<answer>"France; Île-de-France; Paris."</answer>',
        "<answer>Country: France; Region: Île-de-France; Place: Paris</answer>",
        "<think>x</think><answer><|begin_of_box|>France; Île-de-France; Paris<|end_of_box|></answer>",
        "<think>I answer in <answer> tags.</think><answer>France; Île-de-France; Paris</answer>",
        '<answer>{"FinalAnswer": "France; Île-de-France; Paris"}</answer>',
        '{"ChainOfThought": {"CountryIdentification": {}, "FinalAnswer": "France; Île-de-France; Paris"}}',
        '<think>As in {"FinalAnswer": "Peru; ; Lima"}</think>{"FinalAnswer": "France; Île-de-France; Paris"}',
        '{"ChainOfThought": {"CountryIdentification": {"Clues": ["a "stop" sign"]}}, '
        '"FinalAnswer": "France; Île-de-France; Paris"}',
    ],
)
def test_names_of_geoagent_are_read_without_what_stands_around_them(text):
    found = parse_text("geoagent", text).answer
    assert (found.country, found.region, found.place) == ("France", "Île-de-France", "Paris")


def test_the_form_of_an_answer_is_none():
    assert parse_text("geoagent", '{"ChainOfThought": {}, "FinalAnswer": "Country; Region; Specific Location"}').problem
    assert parse_text("geovista", "<think>So <answer>Place, City, State, Country</answer>. I see").problem


@pytest.mark.parametrize(
    "block",
    [
        "Tour Eiffel, Paris, Île-de-France, France",
        "<|begin_of_box|>Tour Eiffel, Paris, Île-de-France, France<|end_of_box|>",
        "Tour Eiffel，Paris，Île-de-France，France",
        "Tour Eiffel,\nParis,\nÎle-de-France,\nFrance\n\nThe sign says so, and the tower.",
        "Tour Eiffel, Paris, Île-de-France, France\n**Reasoning**: the sign says so, and the tower.",
        "Place: Tour Eiffel\nCity: Paris\nState: Île-de-France\nCountry: France",
        '{"place": "Tour Eiffel", "city": "Paris", "state": "Île-de-France", "country": "France"}',
        "x` stands in the tags `<answer>` so:\n<answer>Tour Eiffel, Paris, Île-de-France, France",
    ],
)
def test_the_place_of_geovista_is_read_with_labels_and_marks(block):
    parsed = parse_text("geovista", f"<answer>{block}</answer>")
    assert (parsed.answer.country, parsed.answer.city, parsed.answer.place) == ("France", "Paris", "Tour Eiffel")
    assert parsed.lookups[0].arguments["address"] == "Tour Eiffel, Paris, Île-de-France, France"


@pytest.mark.parametrize("block", ["Unknown", "Unknown, Unknown, N/A, Unknown", "I cannot determine the location."])
def test_geovista_abstains_in_its_own_words(block):
    parsed = parse_text("geovista", f"<answer>{block}</answer>")
    assert parsed.answer.abstains
    assert not parsed.lookups


def test_a_finest_part_that_is_unknown_is_not_looked_up():
    parsed = parse_text("geovista", "<answer>Unknown, Paris, Île-de-France, France</answer>")
    assert (parsed.answer.city, parsed.answer.country) == ("Paris", "France")
    assert parsed.lookups[0].arguments["address"] == "Paris, Île-de-France, France"


def test_a_profile_overrides_texts_and_tool_descriptions(tmp_path, sign_photo):
    (tmp_path / "prompt.txt").write_text("You look.\n{tools}\nEnd.")
    schema = {"name": "text_search_tool", "description": "As trained.", "parameters": {"type": "object"}}
    (tmp_path / "tools.json").write_text(json.dumps([{"type": "function", "function": schema}]))
    settings = DialectSettings(prompt_file=tmp_path / "prompt.txt", tool_schema_file=tmp_path / "tools.json")
    mine = DIALECTS["reverse"].with_settings(settings)
    schemas = mine.schemas(toolbox().schemas())
    assert [(tool.name, tool.description) for tool in schemas] == [("text_search_tool", "As trained.")]
    system = mine.opening(Task(photos=(sign_photo,), tools=schemas))[0].text
    assert system.startswith("You look.\n# Tools")
    assert "As trained." in system
    (tmp_path / "tools.json").write_text(json.dumps([{**schema, "name": "fly"}]))
    with pytest.raises(ConfigError, match="has no tool fly"):
        DIALECTS["reverse"].with_settings(settings)
    with pytest.raises(ConfigError, match="cannot read"):
        DIALECTS["reverse"].with_settings(DialectSettings(prompt_file=tmp_path / "none.txt"))


@virtual_time
async def test_paper_mode_neither_demands_an_answer_nor_corrects_a_turn(sign_photo):
    paper = DIALECTS["thinking_with_map"].with_settings(DialectSettings(paper_mode=True))
    search = call("amap_input_tips", query="Hefei")
    spent = await play(paper, sign_photo, search, search, JSON_ANSWER, limits=Limits(max_turns=2))
    assert (spent.end.stop_reason, spent.answer) == (StopReason.BUDGET, None)
    assert all(message.role != "user" for message in spent.requests[-1].messages[2:])
    unread = await play(paper, sign_photo, "Somewhere.", JSON_ANSWER)
    assert unread.end.stop_reason is StopReason.FAILED


def test_geo_adapt_is_asked_for_its_depth_only_on_request():
    plain, tagged = (DIALECTS["geo_adapt"].with_settings(DialectSettings(depth_tag=tag)) for tag in (False, True))
    asked = [dialect.opening(Task(photos=()))[0].text for dialect in (plain, tagged)]
    assert ["<depth>" in text for text in asked] == [False, True]
