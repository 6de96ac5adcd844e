"""Hostile files against the decoder: a clean photo or a PhotoError, quickly, whatever comes in."""

import io
import resource
import time
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from support.hostile import KINDS, corpus, plain

from tts.domain.exif_claims import file_claim
from tts.domain.photo import Photo
from tts.domain.photo_cleaning import load_photo
from tts.errors import PhotoError

SLOWEST_S = 10.0  # of processor time; the slowest takes about one


def attempt(raw: bytes) -> Photo | PhotoError:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns about what it mends
        try:
            return load_photo(raw)
        except PhotoError as error:
            return error


def test_the_corpus_of_hostile_photos_has_at_least_300_distinct_files():
    names = [item.name for item in corpus()]
    assert len(names) == len(set(names))
    assert len(names) >= 300


@pytest.mark.parametrize("item", corpus(), ids=str)
def test_each_file_is_a_clean_photo_or_refused_in_words(item):
    started = time.process_time()
    found = attempt(item.data)
    assert time.process_time() - started < SLOWEST_S
    if isinstance(found, PhotoError):
        assert item.fate != "refused" or found.status in (413, 415, 422)
        assert item.fate != "fine", found.detail
        assert found.detail
        assert 400 <= found.status < 500
        return
    assert item.fate != "refused"
    with Image.open(io.BytesIO(found.data)) as clean:
        assert (clean.format, clean.mode, clean.size) == ("JPEG", "RGB", (found.width, found.height))
        assert set(clean.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}
    for trace in (b"<script", b"<?php", b"alert(1)", b"PK\x03\x04", b"Exif", b"ICC_PROFILE", b"ns.adobe.com"):
        assert trace not in found.data


@pytest.mark.parametrize("item", corpus(), ids=str)
def test_reading_what_a_file_claims_never_fails(item):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        claim = file_claim(item.data)
    assert claim.point is None


def test_bombs_do_not_take_memory():
    """The peak of the whole corpus stays below what one honest 64-megapixel photo takes."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for item in corpus():
        if item.name.startswith("bombs"):
            attempt(item.data)
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown_mb < 600


@given(st.sampled_from(KINDS), st.data())
@settings(max_examples=150)
def test_mutated_files_are_photos_or_refused(kind, data):
    raw = bytearray(plain(kind))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        action = data.draw(st.sampled_from(["overwrite", "insert", "delete", "cut"]))
        noise = data.draw(st.binary(min_size=1, max_size=12))
        if action == "overwrite":
            raw[at : at + len(noise)] = noise
        elif action == "insert":
            raw[at:at] = noise
        elif action == "delete":
            del raw[at : at + len(noise)]
        else:
            del raw[max(1, at) :]
    attempt(bytes(raw))
