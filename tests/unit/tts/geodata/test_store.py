"""Built data heals itself. Uses a stand-in builder: the real ones are run by the `data_store` fixture."""

import multiprocessing
import time

import pytest

from tts.errors import DataError
from tts.geodata.store import DataSet, DataStore


class Builds:
    """A data set that counts how often it is built."""

    def __init__(self):
        self.made = []
        self.version = {"source": "1"}
        self.fail = False

    def store(self, root):
        return DataStore(root, (DataSet("gazetteer", self.build, lambda: self.version),))

    def build(self, folder, progress):
        self.made.append(folder)
        progress("done", 1.0)
        (folder / "meta.json").write_text("{}")
        (folder / "lat.npy").write_bytes(b"0" * 1000)
        if self.fail:
            raise RuntimeError("disk full")


@pytest.fixture
def builds():
    return Builds()


def state(store):
    (status,) = store.status()
    return status.state


def test_data_are_built_once_and_then_reused(tmp_path, builds):
    store = builds.store(tmp_path)
    assert state(store) == "missing"
    assert store.ensure()[0].state == "ready"
    assert builds.store(tmp_path).ensure()[0].state == "ready"
    assert len(builds.made) == 1
    assert store.ensure(force=True)[0].state == "ready"
    assert len(builds.made) == 2


@pytest.mark.parametrize(
    ("damage", "seen"),
    [
        (lambda f: (f / "lat.npy").write_bytes(b"0" * 999), "corrupt"),
        (lambda f: (f / "lat.npy").write_bytes(b"1" * 1000), "corrupt"),
        (lambda f: (f / "lat.npy").unlink(), "corrupt"),
        (lambda f: (f / "manifest.json").write_text("{broken"), "corrupt"),
        (lambda f: (f / "manifest.json").unlink(), "missing"),
    ],
)
def test_damaged_data_are_detected_and_built_again(tmp_path, builds, damage, seen):
    store = builds.store(tmp_path)
    store.ensure()
    damage(tmp_path / "gazetteer")
    assert state(store) == seen
    assert store.ensure()[0].state == "ready"
    assert len(builds.made) == 2


def test_other_package_versions_ask_for_a_rebuild(tmp_path, builds):
    store = builds.store(tmp_path)
    store.ensure()
    builds.version = {"source": "2"}
    assert state(store) == "outdated"
    with pytest.raises(DataError, match="geotts data build"):
        store.gazetteer()
    assert store.ensure()[0].state == "ready"


def test_a_failed_build_leaves_the_old_data(tmp_path, builds):
    store = builds.store(tmp_path)
    store.ensure()
    builds.fail = True
    with pytest.raises(RuntimeError, match="disk full"):
        store.ensure(force=True)
    assert state(store) == "ready"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".build")] == []


def _build_slowly(root, counter):
    def build(folder, progress):
        with counter.get_lock():
            counter.value += 1
        time.sleep(0.3)
        (folder / "meta.json").write_text("{}")

    DataStore(root, (DataSet("gazetteer", build, dict),)).ensure()


@pytest.mark.slow
def test_many_processes_build_once(tmp_path):
    context = multiprocessing.get_context("fork")
    counter = context.Value("i", 0)
    processes = [context.Process(target=_build_slowly, args=(tmp_path, counter)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
    assert [process.exitcode for process in processes] == [0] * 4
    assert counter.value == 1


def test_cleaning_the_store_removes_all_data(tmp_path, builds):
    store = builds.store(tmp_path)
    store.ensure()
    assert store.clean() >= 1000
    assert state(store) == "missing"
    assert store.clean() == 0


def test_an_unwritable_place_says_what_to_do(builds):
    with pytest.raises(DataError, match="GEOTTS_DATA_DIR"):
        builds.store("/proc/nowhere").ensure()
