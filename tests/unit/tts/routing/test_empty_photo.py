"""Whether a picture shows anything: by its structure, not by how busy, dark or pale it is."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter
from support.empty_pictures import PICTURES, empty_photo

from tts.domain.photo_cleaning import load_photo
from tts.routing.empty_photo import structure_of
from tts.routing.small_copy import small_copy

PHOTOS = Path(__file__).resolve().parents[4].parent / "shared" / "data" / "photos"


def content_of(photo):
    return structure_of(small_copy(photo)).content


@pytest.mark.parametrize("name", PICTURES)
def test_an_empty_picture_has_little_content(name):
    assert content_of(empty_photo(name)) < 0.5


def scene():
    """A street drawn with few strokes: sky, ground, two houses."""
    picture = Image.new("RGB", (640, 480), (150, 190, 235))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 300, 640, 480), fill=(110, 105, 100))
    draw.rectangle((40, 120, 240, 320), fill=(190, 120, 90))
    draw.polygon([(30, 120), (140, 50), (250, 120)], fill=(120, 50, 40))
    draw.rectangle((380, 180, 560, 330), fill=(225, 220, 200))
    return picture


CHANGES = {
    "as it is": lambda p: p,
    "dark": lambda p: p.point(lambda value: value // 8),
    "in fog": lambda p: p.point(lambda value: 180 + value // 6),
    "noisy": lambda p: Image.fromarray(
        np.clip(np.asarray(p) + np.random.default_rng(1).normal(0, 30, (480, 640, 3)), 0, 255).astype(np.uint8)
    ),
    "out of focus": lambda p: p.filter(ImageFilter.GaussianBlur(4)),
    "upright": lambda p: p.rotate(90, expand=True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_scene_has_content_however_it_was_taken(change):
    out = io.BytesIO()
    CHANGES[change](scene()).save(out, "JPEG")
    assert content_of(load_photo(out.getvalue())) >= 0.5


@pytest.mark.slow
@pytest.mark.skipif(not PHOTOS.is_dir(), reason="the development photos are not here (shared/data/photos)")
def test_every_development_photo_has_content_with_a_margin():
    files = [json.loads(line)["file"] for line in (PHOTOS / "labels.jsonl").read_text().splitlines()]
    found = [content_of(load_photo((PHOTOS / file).read_bytes())) for file in files]
    assert min(found) > 0.55


@pytest.mark.parametrize("shape", [(1, 1), (1, 400), (400, 2), (17, 16)])
def test_pictures_of_any_shape_are_measured(shape):
    pixels = np.random.default_rng(0).integers(0, 256, (*shape, 3)).astype(np.uint8)
    assert 0.0 <= structure_of(pixels).content <= 1.0
