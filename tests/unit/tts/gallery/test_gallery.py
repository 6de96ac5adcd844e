"""Photos of known position: read from the operator's files, found by likeness, given to the model by geo_adapt."""

import csv
import io
import json

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from PIL import Image
from support.basics import a_context
from support.dialect_rollouts import toolbox
from support.endpoint import serving, text_chunks
from support.geotts_process import geotts
from support.tiny_encoder import DIMENSIONS, SIDE, write_encoder

from deployments.cli import cli
from deployments.config import load_config
from deployments.wiring.rollouts import LocalRollouts
from tts.config import GalleryConfig
from tts.dialects import DIALECTS
from tts.dialects.base import Task
from tts.dialects.settings import DialectSettings
from tts.domain.events import RolloutFinished
from tts.domain.geo import LatLon
from tts.domain.photo_cleaning import load_photo
from tts.domain.plan import Limits
from tts.domain.similar_photo import SimilarPhoto
from tts.errors import ConfigError, DataError
from tts.eval.runs.configuration import config_digest
from tts.gallery.encoder import ImageEncoder
from tts.gallery.gallery import PhotoGallery
from tts.inference.openai.engine import OpenAIModel
from tts.ports.rollout_groups import GroupRequest, RolloutTask

PLACES = {
    "sea": ((0, 60, 200), 10.0, 20.0),
    "field": ((30, 160, 40), 47.5, 19.0),
    "sand": ((230, 200, 120), 23.0, 12.5),
    "snow": ((250, 250, 255), 78.2, 15.6),
    "night": ((5, 5, 20), -33.9, 18.4),
}
ANSWER = "<think>So.</think><answer>Country: Hungary\nCity: Budapest\nEstimated Coordinates: 47.5, 19.0</answer>"


def picture(colour, width=96, height=80):
    """Sky above, the colour below: no two are alike in all their cells."""
    image = Image.new("RGB", (width, height), colour)
    image.paste((120, 180, 240), (0, 0, width, height // 4))
    return image


def as_png(image):
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def photo(colour, **size):
    return load_photo(as_png(picture(colour, **size)))


@pytest.fixture
def config(tmp_path):
    """Five photos with embeddings that the encoder made."""
    encoder = write_encoder(tmp_path / "encoder.onnx")
    config = GalleryConfig(table=tmp_path / "photos.csv", embeddings=tmp_path / "vectors.npy", encoder=encoder)
    network = ImageEncoder(config)
    vectors = [network.encode(picture(colour)) for colour, _, _ in PLACES.values()]
    np.save(tmp_path / "vectors.npy", np.stack(vectors) * 3)
    with (tmp_path / "photos.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "lat", "lon", "embedding"])
        table.writerows([name, lat, lon, f"{name}.npy"] for name, (_, lat, lon) in PLACES.items())
    for name, vector in zip(PLACES, vectors, strict=True):
        np.save(tmp_path / f"{name}.npy", vector.astype(np.float16))
    return config


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


async def test_a_gallery_is_made_of_labelled_photos_and_printed_as_configuration(tmp_path):
    """By the command line, and what it prints is used as it is."""
    encoder = write_encoder(tmp_path / "encoder.onnx")
    rows = []
    for name, (colour, lat, lon) in PLACES.items():
        (tmp_path / f"{name}.png").write_bytes(as_png(picture(colour)))
        rows.append({"file": f"{name}.png", "lat": lat, "lon": lon, "id": name})
    labels = tmp_path / "labels.jsonl"
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["data", "gallery", str(labels), str(tmp_path / "made"), "--encoder", str(encoder)]
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    made = load_config(None, yaml.safe_load(done.stdout)).gallery
    assert [f.id for f in await PhotoGallery(made).similar([photo((35, 150, 45))])][:1] == ["field"]
    labels.write_text(json.dumps(rows[0] | {"file": "gone.png"}) + "\n")
    failed = CliRunner().invoke(cli, [*arguments[:3], str(tmp_path / "other"), *arguments[4:]], standalone_mode=False)
    assert "row 1: gone.png is no photo" in str(failed.exception)
    assert not (tmp_path / "other").exists()


@pytest.mark.slow
async def test_the_model_gets_the_candidates_of_a_gallery_made_on_the_command_line(data_store, tmp_path, monkeypatch):
    """As docs/dialects.md types it: labelled photos in, a configuration file out, and a photo located with it."""
    monkeypatch.chdir(tmp_path)
    write_encoder(tmp_path / "encoder.onnx")
    (tmp_path / "photos").mkdir()
    with (tmp_path / "photos" / "labels.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["file", "lat", "lon"])
        for name, (colour, lat, lon) in PLACES.items():
            (tmp_path / "photos" / f"{name}.png").write_bytes(as_png(picture(colour)))
            table.writerow([f"{name}.png", lat, lon])
    status, printed, stderr = await geotts(
        "data", "gallery", "photos/labels.csv", "gallery", "--encoder", "encoder.onnx"
    )
    assert status == 0, stderr
    (tmp_path / "gallery.yaml").write_text(printed)
    (tmp_path / "here.png").write_bytes(as_png(picture((35, 150, 45), width=300, height=260)))
    async with serving(lambda body, number: text_chunks(ANSWER)) as endpoint:
        options = ["-c", "gallery.yaml", "--profile", "geo_adapt", "--endpoint", endpoint.url, "-n", "1", "--json"]
        status, located, stderr = await geotts("locate", "here.png", *options)
        asked = json.dumps(endpoint.bodies[0]["messages"])
    assert status == 0, stderr
    assert json.loads(located)["answer"]["country"] == "Hungary"
    assert "1. 47.50000, 19.00000 (similarity" in asked
    assert asked.count("(similarity") == 3
    assert "field" not in asked, "a name may give the place away"


def test_another_gallery_makes_another_run(config, tmp_path):
    def digest(gallery):
        return config_digest(load_config(None, {"dialect": "geo_adapt", **gallery}), None, with_installed=False)

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


@pytest.mark.parametrize(("dialect", "shown"), [("geo_adapt", True), ("generic", False)])
async def test_every_rollout_gets_the_same_candidates(config, dialect, shown):
    """From the configuration to what the endpoint is sent."""
    async with serving(lambda body, number: text_chunks(ANSWER)) as endpoint:
        engine = {"name": "openai", "base_url": endpoint.url, "model": "m", "server": "sglang"}
        tree = {"engine": engine, "dialect": dialect, "gallery": config.model_dump(mode="json")}
        args = load_config(None, tree)
        model = OpenAIModel(args.engine)
        group = GroupRequest(
            context=a_context(30.0),
            photos=(photo((35, 150, 45)),),
            tasks=(RolloutTask(rollout_id=0, seed=1), RolloutTask(rollout_id=1, seed=2)),
            n_total=2,
            limits=Limits(),
        )
        items = [item async for batch in LocalRollouts(model, toolbox(), args).run(group) for item in batch]
        await model.aclose()
    ends = [item for item in items if isinstance(item, RolloutFinished)]
    assert len(ends) == 2
    for body in endpoint.bodies[:2]:
        assert ("1. 47.50000, 19.00000 (similarity" in json.dumps(body["messages"])) is shown
