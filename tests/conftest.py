"""Shared fixtures: no network but loopback, built data, project-made photos, a virtual clock, a local Ray cluster."""

from __future__ import annotations

import ctypes
import io
import os
import platform
import secrets
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.dependencies import models as dependencies
from hypothesis import HealthCheck, settings
from PIL import Image
from support.basics import sign_bytes

from tts.domain.photo import Box, Photo
from tts.domain.photo_cleaning import load_photo
from tts.domain.reading import Reading
from tts.geodata.countries import Countries
from tts.geodata.gazetteer import Gazetteer
from tts.geodata.maps.cartographer import Cartographer
from tts.geodata.store import DataStore
from tts.perception.sign_reader import SignReader

os.environ["GEOTTS_ENDPOINT_MEMORY"] = "off"  # ports are used again: no test learns from another
os.environ["GEOTTS_CALIBRATIONS"] = "/nonexistent/geotts-calibrations"  # those of whoever runs the tests are not used

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")

_M_ARENA_MAX = -8
if platform.libc_ver()[0] == "glibc":  # it keeps freed memory by thread: gigabytes after some thousand event loops
    ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)

_LOOPBACK = ("127.", "localhost", "::1", "0.0.0.0")

os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # else Ray reads or writes the one in the home folder

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as jobs in a shell's background inherit it, and hand it on
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="module")
def forget_apps() -> Iterator[None]:
    """FastAPI remembers the route functions of every application, and each holds its gateway with all data: gigabytes
    after the tests of a worker."""
    yield
    for remembered in vars(dependencies).values():
        if hasattr(remembered, "cache_clear"):
            remembered.cache_clear()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests reach loopback only."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and not str(address[0]).startswith(_LOOPBACK):
            raise OSError(f"a test tried to reach {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(scope="session")
def data_store() -> DataStore:
    """The built gazetteer; built here (25 s, once) when it is not there yet."""
    store = DataStore()
    store.ensure()
    return store


@pytest.fixture(scope="session")
def gazetteer(data_store: DataStore) -> Gazetteer:
    return data_store.gazetteer()


@pytest.fixture(scope="session")
def cartographer(data_store: DataStore) -> Cartographer:
    return data_store.cartographer()


@pytest.fixture(scope="session")
def countries() -> Countries:
    return Countries()


@pytest.fixture(scope="session")
def sign_photo() -> Photo:
    return load_photo(sign_bytes("Wilhelmsburg", "Inselpark"))


@pytest.fixture(scope="session")
def blank_photo() -> Photo:
    out = io.BytesIO()
    Image.new("RGB", (320, 240), (120, 160, 90)).save(out, "JPEG")
    return load_photo(out.getvalue())


@pytest.fixture(scope="module")
def read_once() -> Iterator[None]:
    """Each photo, and each box of it, is read once in a module; reading is deterministic, and tested elsewhere."""
    read: Any = SignReader.read
    known: dict[tuple[str, Box | None, str], Reading] = {}

    def remembered(self: SignReader, photo: Photo, box: Box | None = None, language: str = "") -> Reading:
        key = (photo.sha256, box, language)
        if key not in known:
            known[key] = read(self, photo, box, language)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SignReader, "read", remembered)
        yield


@pytest.fixture(scope="session")
def eval_photos() -> Path:
    """The evaluation photographs; a test that needs them skips where they are not."""
    folder = Path(os.environ.get("GEOTTS_PHOTOS", "../shared/data/photos"))
    if not (folder / "labels.jsonl").is_file():
        pytest.skip(f"the evaluation photographs are not at {folder}")
    return folder


@pytest.fixture(scope="session")
def eval_logs() -> Path:
    """Published logs of other systems; a test that needs them skips where they are not."""
    folder = Path(os.environ.get("GEOTTS_LOGS", "../shared/data/logs"))
    if not any(folder.glob("*.jsonl")):
        pytest.skip(f"the published logs are not at {folder}")
    return folder
