import time

import pytest

from tts.dialects.prose_coordinates import last_point_in


@pytest.mark.parametrize(
    ("text", "lat", "lon"),
    [
        ("I think this is Paris, at 48.8567, 2.3508.", 48.8567, 2.3508),
        ("First 10.5, 20.5; then the answer is (−33.86, 151.21)", -33.86, 151.21),
        ("**Latitude:** 48.85\n**Longitude:** 2.35", 48.85, 2.35),
        ("Longitude: -2.35, Latitude: 48.85", 48.85, -2.35),
        ("The latitude is approximately 48.85 and the longitude is about 2.35", 48.85, 2.35),
        ("It is at 33°52′S 151°12′36″E, I believe", -33.866667, 151.21),
        ("48.8566 degrees North, 2.3522 degrees West", 48.8566, -2.3522),
        ("N 48.85 W 2.35", 48.85, -2.35),
        ("GPS: [48.85, 2.35]", 48.85, 2.35),
        ("<answer>48.85, 2.35</answer>", 48.85, 2.35),
        ("Latitude: 48.85, Longitude: 2.35. Such houses are of the late 19th century", 48.85, 2.35),
        ("Latitude: 48.85, Longitude: 2.35. It is a long 5 hour drive", 48.85, 2.35),
        ("Lat. 48.85, Long. 2.35, 1234 m", 48.85, 2.35),
        ("pred_lat: 48.85, pred_lon: 2.35", 48.85, 2.35),
        ("a latitude of 48.85 and a longitude of 2.35", 48.85, 2.35),
        ("It is at _48.85_, _2.35_. I would rate this 4.5/5.0", 48.85, 2.35),
    ],
)
def test_a_position_in_sentences_is_found(text, lat, lon):
    point = last_point_in(text)
    assert (point.lat, point.lon) == pytest.approx((lat, lon), abs=1e-5)


@pytest.mark.parametrize(
    "text",
    [
        "", "Paris, France", "In 2019, 45 people came from 10, 20 towns", "version 1.2.3.4, 5.6", "GPS: 95.5, 200.1",
        "Latitude: 48.85", "between 48.1-48.9 and 2.1-2.3", "48,8566 ; 2,3522",
        "Latitude: 48,85 Longitude: 2,35", "Latitude: 48.85, Longitude: 1234", "rated 4.5/5.0",
    ],
)  # fmt: skip
def test_numbers_that_are_no_position_are_left_alone(text):
    assert last_point_in(text) is None


@pytest.mark.parametrize("piece", ["1.1,", "lat: ", "1 ", "N 1.1° 1' ", "n", "1", "N 1.1"])
def test_a_text_without_end_is_read_in_linear_time(piece):
    start = time.process_time()
    last_point_in(piece * (200_000 // len(piece)))
    assert time.process_time() - start < 5.0
