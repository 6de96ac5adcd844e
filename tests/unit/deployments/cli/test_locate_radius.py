"""Radius and country of answers of `geotts locate` agree with their distribution, on the samples."""

import json

import pytest
from click.testing import CliRunner

from deployments.cli import cli
from tts.package_files import SAMPLES


def test_a_country_stated_where_the_engine_knows_better_keeps_one_distribution(data_store):
    """The radius was raised to that of a country, and 50 % within 25 km stood beside it."""
    sample = SAMPLES / "opening-hours-greek.jpg"
    done = CliRunner().invoke(cli, ["locate", str(sample), "--json", "-n", "3"], standalone_mode=False)
    answer = json.loads(done.stdout)["answer"]
    assert answer["level"] == "country"
    assert 200 < answer["radius_km"]["p50"] < 0.8 * answer["radius_km"]["p90"]
    assert 0 < answer["confidence"] < 0.5  # within 25 km; which rollouts end first decides how much


@pytest.mark.parametrize(
    ("sample", "town"),
    [("town-sign-latin", "Bellinzona"), ("station-chinese", "Zaozhuang"), ("station-georgian", "Khoni")],
)
def test_a_sign_with_the_name_of_a_town_has_no_smaller_radius_than_a_town(data_store, sample, town):
    """It was 310 m, as of a spot. Nothing but a name was read, and the radii are fitted to centres of towns."""
    done = CliRunner().invoke(
        cli, ["locate", str(SAMPLES / f"{sample}.jpg"), "--json", "-n", "2"], standalone_mode=False
    )
    answer = json.loads(done.stdout)["answer"]
    assert (answer["level"], answer["city"], answer["town_centre"]) == ("city", town, True)
    assert 3 < answer["radius_km"]["p50"] < answer["radius_km"]["p90"] < 10
