"""`geotts data gallery`: labelled photos in, a configuration out that is used as it is."""

import csv
import json

import pytest
import yaml
from click.testing import CliRunner
from support.endpoint import serving, text_chunks
from support.geotts_process import geotts
from support.made_gallery import ANSWER, PLACES, as_png, photo, picture
from support.tiny_encoder import write_encoder

from deployments.cli import cli
from deployments.config import load_config
from tts.gallery.gallery import PhotoGallery


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
