import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pydantic import ValidationError
from support.basics import sign_bytes

from tts.domain.photo import Box, PhotoLimits, PhotoProblem
from tts.domain.photo_cleaning import load_photo, load_small_photo
from tts.errors import PhotoError


def encoded(picture, kind="PNG", **options):
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def reason(raw, limits=None):
    with pytest.raises(PhotoError) as refused:
        load_photo(raw, limits)
    return refused.value.fields["reason"]


def test_a_photo_is_named_by_its_clean_content_and_by_what_was_sent():
    raw = sign_bytes("Bahnhofstrasse")
    first, second = load_photo(raw), load_photo(raw)
    assert first.sha256 == second.sha256
    assert first.source_sha256 != first.sha256
    assert (first.width, first.height) == (800, 480)
    assert first.image().size == (800, 480)


def test_a_small_photo_is_loaded_as_by_the_general_loader():
    small = sign_bytes("Quai", size=(320, 240))
    found = load_small_photo(small, PhotoLimits())
    assert (found.data, found.sha256, found.width) == (load_photo(small).data, load_photo(small).sha256, 320)
    with pytest.raises(PhotoError):
        load_small_photo(small[: len(small) // 2], PhotoLimits())
    with pytest.raises(PhotoError):
        load_small_photo(small, PhotoLimits(min_side=300))


def test_files_that_take_long_to_decode_are_not_loaded_as_small_photos():
    noise = Image.effect_noise((640, 480), 90)
    for raw in (
        encoded(Image.new("RGB", (1000, 1000)), "JPEG"),
        encoded(noise, "JPEG", quality=95),
        encoded(Image.new("RGB", (64, 64)), "JPEG", progressive=True),
        encoded(Image.new("RGB", (64, 64))),
        b"",
    ):
        assert load_small_photo(raw, PhotoLimits()) is None


def test_no_metadata_survives():
    """GPS, camera, comment, thumbnail, ICC, XMP and a trailer: none of their bytes are in the clean copy."""
    exif = Image.Exif()
    exif[0x010F] = "SECRETCAMERA"
    exif[0x0132] = "2026:01:02 03:04:05"
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 51.0, 24.0), 3: "E", 4: (2.0, 21.0, 3.0), 29: "2026:01:02"})
    raw = encoded(
        Image.new("RGB", (64, 64), (9, 99, 199)),
        "JPEG",
        exif=exif.tobytes(),
        comment=b"SECRETCOMMENT",
        icc_profile=b"SECRETPROFILE" * 20,
        xmp=b"<x:xmpmeta>SECRETXMP</x:xmpmeta>",
    )
    raw += b"SECRETTRAILER"
    photo = load_photo(raw)
    assert raw.count(b"SECRET") >= 5
    assert b"SECRET" not in photo.data
    for marker in (b"Exif", b"http://ns.adobe.com", b"ICC_PROFILE", b"GPS", b"Photoshop"):
        assert marker not in photo.data
    with Image.open(io.BytesIO(photo.data)) as clean:
        assert not clean.getexif()
        assert not ({"exif", "icc_profile", "comment", "xmp"} & set(clean.info))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_applied(orientation):
    upright = Image.new("RGB", (40, 20), "white")
    upright.paste("red", (0, 0, 10, 10))  # red in the upper left when upright
    undo = {
        1: None, 2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }[orientation]  # fmt: skip
    stored = upright if undo is None else upright.transpose(undo)
    exif = Image.Exif()
    exif[0x0112] = orientation
    pixels = np.asarray(load_photo(encoded(stored, "PNG", exif=exif)).image())
    assert pixels.shape == (20, 40, 3)
    assert tuple(pixels[4, 4] > 128) == (True, False, False)
    assert tuple(pixels[15, 30] > 128) == (True, True, True)


@pytest.mark.parametrize(
    ("mode", "colour", "expected"),
    [
        ("L", 128, (128, 128, 128)),
        ("1", 1, (255, 255, 255)),
        ("RGBA", (255, 0, 0, 0), (255, 255, 255)),
        ("RGBA", (255, 0, 0, 255), (255, 0, 0)),
        ("LA", (0, 0), (255, 255, 255)),
        ("I;16", 0x8000, (128, 128, 128)),
    ],
)
def test_every_mode_becomes_rgb(mode, colour, expected):
    photo = load_photo(encoded(Image.new(mode, (32, 32), colour)))
    assert np.allclose(np.asarray(photo.image())[16, 16], expected, atol=4)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "GIF", "BMP", "HEIF", "AVIF"])
def test_every_format_is_read(kind):
    photo = load_photo(encoded(Image.new("RGB", (64, 48), (200, 30, 30)), kind))
    assert (photo.width, photo.height) == (64, 48)
    assert np.allclose(np.asarray(photo.image())[20, 20], (200, 30, 30), atol=12)


def test_cmyk_palette_float_and_animated_pictures_are_read():
    cmyk = load_photo(encoded(Image.new("CMYK", (32, 32), (0, 255, 255, 0)), "JPEG"))
    assert np.asarray(cmyk.image())[5, 5, 0] > 200
    palette = Image.new("P", (32, 32), 1)
    palette.putpalette([0, 0, 0, 10, 200, 30] + [0] * 762)
    assert np.allclose(np.asarray(load_photo(encoded(palette)).image())[5, 5], (10, 200, 30), atol=4)
    ramp = Image.fromarray(np.linspace(-5, 5, 32 * 32, dtype=np.float32).reshape(32, 32))
    assert np.ptp(np.asarray(load_photo(encoded(ramp, "TIFF")).image())) > 240
    frames = [Image.new("RGB", (32, 32), colour) for colour in ("red", "blue")]
    moving = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert np.asarray(load_photo(moving).image())[5, 5, 0] > 200


def test_each_refused_file_has_its_reason():
    good = sign_bytes("Rue de Rivoli")
    assert reason(b"") == PhotoProblem.EMPTY
    assert reason(b"hello, this is text") == PhotoProblem.NOT_AN_IMAGE
    assert reason(b"%PDF-1.7 ...") == PhotoProblem.NOT_AN_IMAGE
    assert reason(b"<svg xmlns='http://www.w3.org/2000/svg'/>") == PhotoProblem.NOT_AN_IMAGE
    assert reason(good[: len(good) // 2]) == PhotoProblem.DAMAGED
    assert reason(good, PhotoLimits(max_bytes=2000)) == PhotoProblem.TOO_LARGE
    assert reason(encoded(Image.new("L", (4, 400)))) == PhotoProblem.TOO_SMALL


def test_pixels_are_counted_before_anything_is_decoded():
    bomb = encoded(Image.new("1", (30_000, 20_000)))
    assert len(bomb) < 200_000
    assert reason(bomb) == PhotoProblem.TOO_MANY_PIXELS
    assert reason(encoded(Image.new("1", (9000, 9000)))) == PhotoProblem.TOO_MANY_PIXELS


def test_huge_photos_are_scaled_down_not_refused():
    photo = load_photo(encoded(Image.new("RGB", (1200, 900), "green"), "JPEG"), PhotoLimits(keep_pixels=100_000))
    assert photo.width * photo.height <= 100_000
    assert photo.width / photo.height == pytest.approx(4 / 3, rel=0.02)


def test_a_jpeg_with_thousands_of_scans_is_refused_unread():
    raw = sign_bytes("Stop")
    head, tail = raw[:-2], raw[-2:]
    assert reason(head + b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00" * 500 + tail) == PhotoProblem.DAMAGED


@given(st.binary(max_size=400))
def test_no_bytes_make_anything_but_a_photo_error(raw):
    with pytest.raises(PhotoError):
        load_photo(raw)


@given(st.integers(0, 6000), st.binary(min_size=1, max_size=8))
def test_damaged_jpegs_are_photos_or_photo_errors(at, noise):
    raw = bytearray(sign_bytes("Gare", size=(240, 240)))
    at = at % len(raw)
    raw[at : at + len(noise)] = noise
    try:
        photo = load_photo(bytes(raw), PhotoLimits(max_pixels=4_000_000))
    except PhotoError:
        return
    assert photo.width * photo.height <= 4_000_000


def test_a_box_gives_pixels_and_overlap_and_is_never_empty():
    box = Box(x0=0.25, y0=0.5, x1=0.75, y1=1.0)
    assert box.pixels(400, 200) == (100, 100, 300, 200)
    assert Box(x0=0, y0=0, x1=0.0001, y1=0.0001).pixels(10, 10) == (0, 0, 1, 1)
    assert box.iou(box) == pytest.approx(1)
    assert box.area == pytest.approx(0.25)
    assert box.iou(Box(x0=0.25, y0=0.75, x1=0.75, y1=1.0)) == pytest.approx(0.5)
    assert box.iou(Box(x0=0.8, y0=0, x1=1, y1=0.2)) == 0
    assert box.iou(box.model_copy(update={"photo": 1})) == 0
    with pytest.raises(ValidationError, match="x0 < x1"):
        Box(x0=0.5, y0=0, x1=0.5, y1=1)
