"""Answers in words: what labels, lists and tables say, in the languages and the markup that models use for them."""

import pytest

from tts.dialects import DIALECTS
from tts.dialects.base import Completion
from tts.dialects.labelled_answer_parser import answer_in_words, answer_tags
from tts.domain.geo import LatLon

PARIS = LatLon(lat=48.8584, lon=2.2945)


def reading(block):
    found = answer_in_words(block)
    return found and found.point


@pytest.mark.parametrize(
    "block",
    [
        "**Latitude: 48.8584° N**\n**Longitude: 2.2945° E**",
        "__Latitude:__ 48.8584\n__Longitude:__ 2.2945",
        "📍 *Latitude*: 48.8584.\n📍 *Longitude*: 2.2945.",
        "Latitude: 48.8584<br>Longitude: 2.2945<br>",
        "Latitude: $48.8584^\\circ$ N\nLongitude: $2.2945^{\\circ} \\text{E}$",
        "Latitude: 48,8584° N\nLongitude: 2,2945° E",
        "| Field | Value |\n|---|---|\n| Latitude | 48.8584 |\n| Longitude | 2.2945 |",
        "Latitude: 48.8584, Longitude: 2.2945",
        "Country: France, City: Paris, Latitude: 48.8584, Longitude: 2.2945",
        "Estimated Coordinates: Latitude: 48.8584, Longitude: 2.2945",
        "Coordinates: latitude 48.8584, longitude 2.2945",
        "Coordinates: Longitude 2.2945, Latitude 48.8584",
        "Estimated Coordinates:\n- Latitude: 48.8584\n- Longitude: 2.2945",
        "Estimated Coordinates:\n48.8584, 2.2945",
        "Final Coordinates (latitude, longitude): 48.8584, 2.2945",
        "Latitude, Longitude: 48.8584, 2.2945",
        "Lat/Long: 48.8584, 2.2945",
        "Coordinates: 48,8584° N, 2,2945° E",
        "Coordinates: 48.8584° N and 2.2945° E.",
        "Coordinates: [48.8584, 2.2945](https://maps.google.com/?q=48.8584,2.2945)",
        "Location: Tour Eiffel\nLatitude: 48.8584\nLongitude: 2.2945",
        "Coordinates: 48.8584, 2.2945\nLocation: Tour Eiffel",
        "纬度：北纬48.8584度\n经度：东经2.2945度",
        "國家：法國\n緯度：48.8584\n經度：2.2945",
        "国：フランス\n緯度：48.8584\n経度：2.2945",
        "估计坐标：北纬48.8584度，东经2.2945度",
        "Breitengrad: 48,8584\nLängengrad: 2,2945",
        "Latitud: 48.8584\nLongitud: 2.2945",
        "Coordonnées : 48.8584, 2.2945",
        "Latitude: 48.8584, Longitude: 2.2945\nAgain:\nLatitude: 48.8584, Longitude: 2.2945",
        "France, Paris, (48.8584, 2.2945)",
        "France, Paris, latitude 48.8584, longitude 2.2945.",
        '```json\n{\n"country": "France",\n"latitude": 48.8584,\n"longitude": 2.2945\n}\n```',
    ],
)
def test_one_place_is_read_from_many_forms(block):
    assert reading(block) == PARIS


def test_minutes_and_seconds_may_be_in_chinese():
    found = reading("纬度：48度51分30秒\n经度：2度17分42秒")
    assert (found.lat, found.lon) == pytest.approx((48 + 51 / 60 + 30 / 3600, 2 + 17 / 60 + 42 / 3600))


@pytest.mark.parametrize(
    "block",
    [
        "Latitude: ~48.8584\nLongitude: ~2.2945",
        "Latitude: 48.8584 (or 48.9)\nLongitude: 2.2945",
        "Latitude (S): 33.85\nLongitude (E): 151.2",
        "Coordinates (lon, lat): 2.2945, 48.8584",
        "Coordinates: longitude 48.8584, longitude 2.2945",
        "Breitengrad: 48,8584° N\nLängengrad: 2,2945° O",
        "Location: Tour Eiffel",
        "1. Latitude: 48.8584, Longitude: 2.2945\n2. Latitude: 43.3, Longitude: 5.4",
        "France, Paris, 48,85, 2,29",
        '[\n{"latitude": 48.8584,\n"longitude": 2.2945},\n{"latitude": 43.3,\n"longitude": 5.4}\n]',
    ],
)
def test_what_is_vague_or_has_two_readings_is_no_answer(block):
    assert reading(block) is None


def test_names_are_kept_beside_labels_on_one_line():
    found = answer_in_words("Answer: France, Paris, Latitude: 48.8584, Longitude: 2.2945")
    assert (found.country, found.city, found.point) == ("France", "Paris", PARIS)


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("<answer>a</answer> no: <ANSWER>b</ANSWER>", ["a", "b"]),
        ("<answer>a", ["a"]),
        ("<answer>a<answer>", ["a"]),
        ("I write `<answer>` now: <answer>a</answer>", ["a"]),
        ("<answer><answer>a</answer></answer>", ["a"]),
        ("none", []),
    ],
)
def test_a_tag_that_is_only_spoken_of_holds_no_answer(text, blocks):
    assert answer_tags(text) == blocks


@pytest.mark.parametrize("dialect", ["spotagent", "reverse", "geovista", "geo_adapt"])
def test_the_marks_of_glm_around_an_answer_are_left_out(dialect):
    block = "Country: France\nEstimated Coordinates: 48.8584, 2.2945"
    text = f"<think>x</think><answer><|begin_of_box|>{block}<|end_of_box|></answer>"
    assert DIALECTS[dialect].parse(Completion(text), turn=0).answer.point == PARIS


@pytest.mark.parametrize("coordinates", ["Unknown", "**Unknown**", "(Unknown, Unknown)", "Not available"])
def test_unknown_coordinates_abstain_and_missing_ones_do_not(coordinates):
    dialect = DIALECTS["geo_adapt"]
    assert dialect.parse(Completion(f"Country: Japan\nEstimated Coordinates: {coordinates}"), turn=0).answer.abstains
    assert dialect.parse(Completion("Country: Japan\nEstimated Coordinates:"), turn=0).problem


def test_of_candidates_in_an_answer_geo_adapt_takes_none_and_of_a_draft_before_it_the_correction():
    dialect = DIALECTS["geo_adapt"]
    candidates = "1. Estimated Coordinates: 48.8584, 2.2945\n2. Estimated Coordinates: 43.3, 5.4"
    assert dialect.parse(Completion(f"<answer>{candidates}</answer>"), turn=0).problem
    drafted = "Estimated Coordinates: 1, 1\nNo:\nEstimated Coordinates: 48.8584, 2.2945"
    assert dialect.parse(Completion(drafted), turn=0).answer.point == PARIS


def test_a_number_of_a_house_is_part_of_the_city():
    found = answer_in_words("Germany, Platz 7, 12, 54.1235, 10.7654")
    assert (found.point, found.city) == (LatLon(lat=54.1235, lon=10.7654), "Platz 7, 12")


@pytest.mark.parametrize("line", ["France, Paris, 48, 85, 2, 35", "France, Paris, 48.85, 2.35, 43.3, 5.4"])
def test_four_numbers_in_one_line_are_no_answer(line):
    assert answer_in_words(line) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("reverse", "<answer>France, Paris, 48.85, 2."),
        ("spotagent", "<think>x</think><answer>\nCountry: France\nCity: Paris\nLatitude: 48.85\nLongitude: 2"),
        ("geo_adapt", "Country: France\nCity: Paris\nEstimated Coordinates: 48.85, 2."),
        ("geoagent", "<answer>France; Île-de-Fr"),
    ],
)
def test_a_line_in_which_a_message_was_cut_off_is_not_read(name, text):
    assert DIALECTS[name].parse(Completion(text, truncated=True), turn=0).problem
    ended = DIALECTS[name].parse(Completion(text + "\nThe", truncated=True), turn=0)
    assert ended.answer is not None
