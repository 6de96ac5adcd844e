"""A data set: a folder of photos whose names hold the true position, such as `48.8584_2.2945.jpg`."""

from __future__ import annotations

from pathlib import Path

from tts.domain.geo import LatLon
from tts.errors import DataError
from tts.eval.datasets.base import Dataset
from tts.eval.datasets.picture_files import pictures_in
from tts.eval.sample import Sample, Truth, sample_id


def _sample(picture: Path, seed: int) -> Sample:
    lat, _, lon = picture.stem.partition("_")
    try:
        truth = Truth(point=LatLon(lat=float(lat), lon=float(lon)), accuracy_radius_m=20.0)
    except ValueError as error:
        raise DataError(f"{picture.name} is not named LATITUDE_LONGITUDE") from error
    return Sample(sample_id("named_photos", picture.name, seed), picture.read_bytes, truth, (), picture.name)


def load(path: Path, seed: int) -> list[Sample]:
    """One sample for each picture of the folder. Raises DataError for a name that holds no position."""
    return [_sample(picture, seed) for picture in pictures_in(path)]


DATASET = Dataset("named_photos", "photos named LATITUDE_LONGITUDE", "a folder with them", load)
