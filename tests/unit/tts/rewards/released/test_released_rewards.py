"""Each rule of the released rewards on a made-up case; the corpus itself is tried by `geotts bench conformance`."""

import math

import pytest

from tts.rewards.released import geoagent_answer
from tts.rewards.released import geoagent_chain as chain
from tts.rewards.released import geoagent_reward as geoagent
from tts.rewards.released import geovista_reward as geovista
from tts.rewards.released import picture_sizes as pixels
from tts.rewards.released import reverse_reward as reverse
from tts.rewards.released import thinking_with_map_reward as thinking_with_map
from tts.rewards.released.distances import haversine_km
from tts.rewards.released.geoagent_geocoder import Reply, ask
from tts.rewards.released.reverse_marks import discrimination

TRUE = "10.0, 20.0, Land, Town"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<think>a</think> x <answer>b</answer> y", 0.8),
        ("<think>a</think><useful> [one] </useful><answer>b</answer>", 1.0),
        ("<think>a</think><useful>1</useful><answer>b</answer>", 0.8),
        (" <think>a</think><answer>b</answer>", 0.0),
        ("<think>a<answer>b</answer></think>", 0.0),
        ("<think>a</think>", 0.0),
    ],
)
def test_reverse_rewards_the_form_of_a_text(text, value):
    assert reverse.format_reward(text) == value


@pytest.mark.parametrize(
    ("text", "tables", "reward"),
    [
        ("<answer>Land, Town, 10.5, 20.5</answer>", (10.5, 20.5), (10.5, 20.5)),
        ("<answer>A, B, 1, 2</answer><answer>C, D, 3, 4</answer>", (3.0, 4.0), (1.0, 2.0)),
        ("<answer>Land, Town, 0.0, 0.0</answer>", None, (0.0, 0.0)),
        ("<answer>Land, Town, 95, 20</answer>", (95.0, 20.0), None),
        ("<answer>lat: 95, lon = 200</answer>", None, (95.0, 200.0)),
        ("<answer>Land, Town, (10, 20)</answer>", None, (10.0, 20.0)),
        ("\\boxed{10, 20, Land}", None, (10.0, 20.0)),
        ("in words 10, 20", None, (10.0, 20.0)),
        ("<answer>None, None</answer> 10, 20", None, None),
        ("<answer>20</answer>", None, None),
    ],
)
def test_reverse_reads_an_answer_differently_for_tables_and_for_the_reward(text, tables, reward):
    assert reverse.read_for_tables(text) == tables
    assert reverse.read_for_reward(text) == reward


def test_reverse_place_is_measured_on_a_sphere_and_total_adds_three_terms():
    placed = reverse.place("<think>a</think><answer>Land, Town, 10.0, 21.0</answer>", TRUE)
    assert placed.km == pytest.approx(6371 * math.radians(1) * math.cos(math.radians(10)), abs=0.01)
    assert placed.within == {"acc_1km": 0, "acc_25km": 0, "acc_200km": 1, "acc_750km": 1, "acc_2500km": 1}
    whole = reverse.total(placed, [0.2, 0.9, 0.9])
    assert whole.value == pytest.approx(0.6 * placed.place + 0.1 * 0.8 + 0.3 * 1.0)
    assert reverse.total(placed, [-1.0], with_format=False).value == pytest.approx(0.6 * placed.place - 0.15)
    assert reverse.place("Land", "Land").place == 1.0
    assert reverse.place("nothing", TRUE).km is None


def test_reverse_pays_for_the_region_from_an_overlap_of_seven_tenths():
    assert reverse.overlap([0, 0, 10, 10], [0, 0, 10, 20]) == 0.5
    assert reverse.overlap([10, 10, 0, 0], [0, 0, 10, 10]) == 0.0
    assert reverse.image_search_reward(0.8) == pytest.approx(0.16)
    assert reverse.image_search_reward(0.69) == 0.0


@pytest.mark.parametrize(
    ("text", "useful", "results", "mcc"),
    [
        ("<useful>[1, 2]</useful>", {1, 2}, 4, 1.0),
        ("<useful>[]</useful>", set(), 4, 1.0),
        ("no marks", set(), 4, 1.0),
        ("no marks", {1}, 4, 0.0),
        ("<useful>[1,2,3,4]</useful>", {1}, 4, 0.0),
        ("<useful>[2]</useful><useful>[1]</useful>", {1}, 2, -1.0),
        ("<useful>[i, j, ...]</useful>", set(), 4, 1.0),
        ('<useful>["1"]</useful>', {1}, 4, -0.25),
    ],
)
def test_marks_are_judged_by_matthews_correlation(text, useful, results, mcc):
    made = discrimination(text, useful, results)
    assert made.mcc == pytest.approx(mcc)
    assert made.reward == pytest.approx(0.3 * made.mcc)


def test_marks_that_are_no_list_of_numbers_have_no_reward():
    assert discrimination("<useful>[one]</useful>", {1}, 4) is None


@pytest.mark.parametrize(
    ("text", "form", "geo_form"),
    [
        ("<think>t</think>\n<answer>A; B; C</answer>", 1.0, 1.0),
        ("<think>t</think><answer>A; B</answer>\n", 0.0, 1.0),
        ("x <think>t</think><answer>A; B</answer>", 0.0, 1.0),
        ("<think>t</think><answer>A</answer>", 1.0, 0.0),
        ("<think>t</think><answer>A; B; C; D</answer>", 1.0, 0.0),
        ("<think>t</think><answer>A； B； C</answer>", 1.0, 0.0),
        ("<THINK>t</THINK><ANSWER>A; B; C</ANSWER>", 0.0, 0.0),
    ],
)
def test_geoagent_rewards_two_forms_of_a_text(text, form, geo_form):
    assert geoagent.format_reward(text) == form
    assert geoagent.geo_format_reward(text) == geo_form


def test_geoagent_reads_three_parts_in_any_of_its_separators_and_the_first_answer():
    assert geoagent_answer.names_in("德国；石荷州；测试港") == ("德国", "石荷州", "测试港")
    assert geoagent_answer.names_in("A; ; B; C; D") == ("A", "B", "C;D")
    assert geoagent_answer.answer_for_names("<answer>A; B</answer><answer>C</answer>") == "A; B"
    assert geoagent_answer.answer_for_geocoding('so: {"FinalAnswer": "A; B; C"}') == "A; B; C"
    assert geoagent_answer.answer_for_geocoding('{"FinalAnswer": "A"} {"x": 1}') is None


def test_geoagent_compares_a_level_only_when_the_one_above_is_right():
    table = {("A", "X"): 0.7, ("B", "Y"): 0.49, ("C", "Z"): 1.0}
    made = geoagent.names_reward("<answer>A; B; C</answer>", "<answer>X; Y; Z</answer>", lambda a, b: table[a, b])
    assert made.compared == (("A", "X"), ("B", "Y"))
    assert made.value == pytest.approx(0.07 + 0.294)
    assert geoagent.names_reward("<answer>A</answer>", "X", lambda a, b: -1.0).value == 0.0


def test_geoagent_distance_ends_at_two_thousand_km():
    assert geoagent.spatial_reward(200.0) == pytest.approx(math.exp(-1))
    assert geoagent.spatial_reward(2000.0) == 0.0
    here, one_degree_east = (0.0, 20.0), (0.0, 21.0)
    assert geoagent.spatial_reward_between(here, None) == geoagent.spatial_reward_between(None, here) == 0.0
    assert geoagent.spatial_reward_between(here, here) == 1.0
    assert geoagent.spatial_reward_between(here, one_degree_east) == pytest.approx(math.exp(-0.555974632), rel=1e-6)


def _chain(*conclusions, reasoning="r" * 300):
    stages = zip(chain.STAGES, conclusions, strict=True)
    return {name: {"Clues": [], "Reasoning": reasoning, "Conclusion": conclusion} for name, conclusion in stages}


def test_each_stage_is_checked_against_the_conclusions_before_it():
    asked = chain.questions(_chain("Land", "Region", "Place"))
    assert [question.earlier for question in asked] == [
        {},
        {"CountryIdentification": "Land"},
        {"CountryIdentification": "Land", "RegionalGuess": "Region"},
    ]
    assert '"Previous conclusion": {"CountryIdentification": "Land"}' in asked[1].message("id")
    assert chain.reward_of(_chain("La nd", "Region", "Place"), ["Land", "Region", None]) == pytest.approx(0.7)
    assert chain.reward_of(_chain("Land", "R", "P"), ["land", "R", "P"]) == pytest.approx(0.9)


def test_the_second_reader_must_echo_the_id():
    assert chain.conclusion_of('Sure: {"id": "7", "Conclusion": " Land "} done', "7") == "Land"
    assert chain.conclusion_of('{"id": "8", "Conclusion": "Land"}', "7") is None
    assert chain.conclusion_of('{"id": "7"}', "7") is None
    assert chain.conclusion_of("Land", "7") is None


def test_short_reasoning_counts_less():
    assert [chain.length_weight(n) for n in (89, 145, 201)] == [0.0, 0.5, 1.0]
    assert chain.length_weight(90) == pytest.approx(1 / (1 + math.exp(4)))


def _geocode(address, replies):
    conversation = ask(address)
    asked = [next(conversation)]
    try:
        for reply in replies:
            asked.append(conversation.send(reply))
    except StopIteration as stop:
        return asked, stop.value
    raise AssertionError(f"still asking: {asked}")


def _body(code=200, results=(), message="m"):
    return Reply({"status": {"code": code, "message": message}, "results": list(results)})


FOUND = {"geometry": {"lat": 1.5, "lng": 2.5}, "confidence": 9, "formatted": "There", "components": {"country": "Land"}}


def test_the_geocoder_drops_the_last_part_of_an_unknown_or_too_long_address():
    asked, result = _geocode("A; B; C", [_body(), _body(410), _body(results=[FOUND])])
    assert asked == ["A; B; C", "A; B", "A"]
    assert (result["status"], result["latitude"], result["longitude"]) == ("success", 1.5, 2.5)
    assert _geocode("A；B", [_body()])[1] == {"status": "error", "code": 200, "message": "m", "address": "A；B"}


@pytest.mark.parametrize(("reply", "code"), [(_body(429), 429), (_body(408), 408), (Reply(failure="m"), 0)])
def test_the_geocoder_asks_six_times_when_it_is_refused_or_fails(reply, code):
    asked, result = _geocode("A; B", [reply] * 6)
    assert len(asked) == 6
    assert result == {"status": "error", "code": code, "message": "m", "address": "A; B"}


def test_the_geocoder_gives_up_at_once_when_it_is_forbidden_or_the_body_is_strange():
    assert _geocode("A; B", [_body(403)])[1]["code"] == 403
    assert _geocode("A; B", [Reply({"x": 1})])[1] == {
        "status": "error", "code": 999, "message": "'status'", "address": "A; B",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("reasoning", "value"), [("r" * 201, 1.0), (["r"] * 201, 1.0), (["r" * 201], 0.4), (None, 0.0), (5, 0.0)]
)
def test_reasoning_that_is_no_text_counts_by_its_items_or_not_at_all(reasoning, value):
    stages = {stage: {"Clues": [], "Reasoning": "r" * 201, "Conclusion": "Land"} for stage in chain.STAGES}
    stages["RegionalGuess"]["Reasoning"] = reasoning
    assert chain.reward_of(stages, ["Land"] * 3) == pytest.approx(value)


def test_geovista_measures_on_a_sphere_of_its_own_between_points_in_any_spelling():
    away = geovista.distance_km({"lat": 0.0, "lng": 0.0}, {"latitude": "0", "longitude": "1"})
    assert away == pytest.approx(2 * math.pi * 6371.0088 / 360, abs=1e-9)
    assert away - haversine_km(0.0, 0.0, 0.0, 1.0) == pytest.approx(0.000153589, abs=1e-9)
    with pytest.raises(ValueError, match="no longitude"):
        geovista.distance_km({"lat": 0.0, "lng": None}, {"lat": 0.0, "lon": 0.0})


def test_geovista_names_are_whole_words_and_finer_levels_carry_coarser_ones():
    gold = {"country": "Côte d'Ivoire", "province_or_state": None, "city": "Abidjan"}
    assert geovista.names_by_rule("ABIDJAN!", gold) == (True, True, True)
    assert geovista.names_by_rule("cote d ivoire", gold) == (True, False, False)
    assert geovista.names_by_rule("Abidjanville", gold) == (False, False, False)
    assert geovista.names_by_judge({"city_correct": "true", "state_correct": True}) == (True, True, False)
    assert geovista.training_reward(geovista.Levels(True, True, False)) == 0.0


def test_pictures_are_resized_to_multiples_of_28_within_their_area():
    assert pixels.smart_resize(756, 1008) == (756, 1008)
    assert pixels.smart_resize(10, 10) == (280, 280)
    high, wide = pixels.smart_resize(5000, 5000)
    assert high == wide
    assert high * wide <= pixels.MAX_PIXELS


@pytest.mark.parametrize(
    ("text", "scorer", "verifier"),
    [
        ('{"lat": 1, "lon": 2, "city": "c", "country": "l",}', None, (1.0, 2.0)),
        ('{"lat": "1", "lon": 362, "city": "c", "country": "l", "x": Infinity}', (1.0, 2.0), (1.0, 2.0)),
        ('{"lat": 1, "lon": 2}', None, (1.0, 2.0)),
        ('{"lat": 91, "lon": 2, "city": "", "country": ""}', None, None),
        ('{"a": {"lat": 1, "lon": 2, "city": "c", "country": "l"}}', None, None),
        ('{"lat": 1, "lon": 2, "city": "}", "country": "l"}', None, (1.0, 2.0)),
        ('cut {"lat": 1, "lon": 2.', None, (1.0, 2.0)),
    ],
)
def test_scorer_and_verifier_of_thinking_with_map_read_answers_as_released(text, scorer, verifier):
    assert thinking_with_map.read_answer(text).position == scorer
    assert thinking_with_map.read_verdict(text).position == verifier


def test_thinking_with_map_measures_distances_on_the_ellipsoid():
    text = '{"lat": 10.004, "lon": 20, "city": "c", "country": "l"}'
    scored = thinking_with_map.score(thinking_with_map.read_answer(text), {"lat": 10, "lon": 20})
    assert (scored.score, scored.within["acc_500m"]) == (1.0, 1.0)
