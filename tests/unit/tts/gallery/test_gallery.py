"""Photos of known position: read from files of the operator, found by likeness, listed in the prompt of geo_adapt."""

import numpy as np
import pytest
from support.made_gallery import photo, picture, write_gallery
from support.tiny_encoder import DIMENSIONS, SIDE

from tts.config import PipelineConfig
from tts.dialects import DIALECTS
from tts.dialects.base import Task
from tts.dialects.settings import DialectSettings
from tts.domain.geo import LatLon
from tts.domain.similar_photo import SimilarPhoto
from tts.errors import ConfigError, DataError
from tts.eval.runs.configuration import config_digest
from tts.gallery.encoder import ImageEncoder
from tts.gallery.gallery import PhotoGallery


@pytest.fixture
def config(tmp_path):
    return write_gallery(tmp_path)


async def test_the_nearest_photos_come_first(config):
    gallery = PhotoGallery(config)
    found = await gallery.similar([photo((35, 150, 45), width=300, height=260)])
    assert len(found) == 3
    assert found[0] == SimilarPhoto(id="field", point=LatLon(lat=47.5, lon=19.0), similarity=found[0].similarity)
    assert found[0].similarity > 0.95
    assert [f.similarity for f in found] == sorted((f.similarity for f in found), reverse=True)
    both = await gallery.similar([photo((35, 150, 45)), photo((0, 50, 190))])
    assert {f.id for f in both[:2]} == {"field", "sea"}


async def test_embeddings_may_stand_in_a_file_for_each_photo(config):
    single = PhotoGallery(config.model_copy(update={"embeddings": None}))
    asked = [photo((0, 50, 190))]
    together = await PhotoGallery(config).similar(asked)
    assert [f.id for f in await single.similar(asked)] == [f.id for f in together]


def test_an_encoder_gives_directions_of_its_own_size(config):
    encoder = ImageEncoder(config)
    assert encoder.dimensions == DIMENSIONS
    wide, tall = encoder.encode(picture((9, 9, 9), 400, 80)), encoder.encode(picture((9, 9, 9), 80, 400))
    assert np.linalg.norm(wide) == pytest.approx(1.0, abs=1e-5)
    assert not np.allclose(wide, tall)
    squashed = ImageEncoder(config.model_copy(update={"fit": "squash"}))
    assert not np.allclose(squashed.encode(picture((9, 9, 9), 80, 400)), tall)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"encoder": "vectors.npy"}, ConfigError, "is no ONNX model"),
        ({"encoder": "nowhere.onnx"}, ConfigError, "nowhere.onnx"),
        ({"output": "text_embeds"}, ConfigError, "there are: image_embeds"),
        ({"side": SIDE * 2}, ConfigError, "takes no photo"),
        ({"embeddings": "photos.csv"}, DataError, "is no .npy file"),
        ({"embeddings": "sea.npy"}, DataError, f"not 5 rows of the table by {DIMENSIONS} dimensions"),
        ({"embeddings": "zeros.npy"}, DataError, "zeros.npy, row 4: the embedding has no direction"),
        ({"table": "nowhere.csv"}, DataError, "is not a file"),
        ({"table": "unplaced.csv"}, DataError, "row 1 (a) has no position"),
        ({"table": "nameless.csv"}, DataError, "row 2 has no id"),
    ],
)
def test_a_wrong_setting_or_file_of_a_gallery_is_named_at_the_start(config, tmp_path, change, error, message):
    zeros = np.ones((5, DIMENSIONS), dtype=np.float32)
    zeros[3] = 0
    np.save(tmp_path / "zeros.npy", zeros)
    (tmp_path / "unplaced.csv").write_text("id,lat,lon\na,91,0\n")
    (tmp_path / "nameless.csv").write_text("id,lat,lon\na,1,2\n,1,2\n")
    files = {
        name: tmp_path / value if isinstance(value, str) and "." in value else value for name, value in change.items()
    }
    with pytest.raises(error, match=message.replace("(", r"\(").replace(")", r"\)")):
        PhotoGallery(config.model_copy(update=files))


def test_another_gallery_makes_another_run(config, tmp_path):
    def digest(gallery):
        return config_digest(
            PipelineConfig.model_validate({"dialect": "geo_adapt", **gallery}), None, with_installed=False
        )

    used = {"gallery": config.model_dump(mode="json")}
    before = digest(used)
    assert before != digest({})
    with config.table.open("a") as file:
        file.write("more,1,2,sea.npy\n")
    assert digest(used) != before


def test_the_prompt_lists_candidates_only_where_there_are_some():
    dialect = DIALECTS["geo_adapt"]
    assert "look most like" not in dialect.opening(Task(photos=()))[-1].text
    found = (SimilarPhoto(id="x", point=LatLon(lat=47.5, lon=19.0), similarity=0.912),)
    prompt = dialect.opening(Task(photos=(), similar=found))[-1].text
    assert prompt.endswith("\n1. 47.50000, 19.00000 (similarity 0.91)")
    assert "x" not in prompt.split("\n")[-1].split("(")[0]
    assert "47.5" not in DIALECTS["generic"].opening(Task(photos=(), similar=found))[-1].text


def test_a_task_file_says_where_the_similar_photos_are_listed(tmp_path):
    (tmp_path / "task.txt").write_text("Before.\n{similar}\nAfter.")
    dialect = DIALECTS["geo_adapt"].with_settings(DialectSettings(task_file=tmp_path / "task.txt"))
    found = (SimilarPhoto(id="x", point=LatLon(lat=1, lon=2), similarity=0.5),)
    lines = dialect.opening(Task(photos=(), similar=found))[-1].text.splitlines()
    assert lines[0] == "Before."
    assert lines[-2:] == ["1. 1.00000, 2.00000 (similarity 0.50)", "After."]
    assert dialect.opening(Task(photos=()))[-1].text.splitlines() == ["Before.", "", "After."]
