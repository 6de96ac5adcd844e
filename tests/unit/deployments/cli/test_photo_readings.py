"""What the photos of an acceptance run say is read once, where the configuration reads photos."""

from deployments.cli.photo_readings import photo_readings
from deployments.config import AppArgs
from tts.eval.acceptance.photos import acceptance_photos

ENGINE = {"name": "openai", "model": "m"}


def test_the_calibration_is_fitted_to_verdicts_that_know_what_the_photos_say():
    samples = [sample for sample in acceptance_photos("folder", None) if sample.key == "town-sign-latin.jpg"]
    (readings,) = photo_readings(AppArgs.model_validate({"engine": ENGINE}), samples).values()
    assert "bellinzona" in " ".join(line.text.lower() for reading in readings for line in reading.lines)
    fixed = AppArgs.model_validate({"engine": ENGINE, "routing": {"method": "fixed"}})
    assert photo_readings(fixed, samples) == {}
