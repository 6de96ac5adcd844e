"""The archive of a bundle: the same files give the same bytes, and other archives are refused."""

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tts.bundle.zip_archive import pack, unpack
from tts.errors import DataError

NAMES = st.from_regex(r"[a-z0-9][a-z0-9_.-]{0,8}", fullmatch=True)


@given(st.dictionaries(NAMES, st.binary(max_size=20), max_size=5))
def test_the_same_files_give_the_same_bytes_in_any_order(files):
    assert pack(dict(reversed(files.items()))) == pack(files)
    assert unpack(pack(files)) == files


@pytest.mark.parametrize("name", ["../out", "/etc/x", "A.txt", "a/b/c", "", ".hidden"])
def test_a_name_that_is_not_plain_is_refused(name):
    with pytest.raises(DataError, match="is no name in a bundle"):
        pack({name: b""})


def archive(*files, compression=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as made:
        for name, data in files:
            made.writestr(name, data)
    return out.getvalue()


def test_compressed_entries_and_damaged_archives_are_refused():
    with pytest.raises(DataError, match="compressed"):
        unpack(archive(("a", b"x" * 99), compression=zipfile.ZIP_DEFLATED))
    with pytest.raises(DataError, match="no bundle"):
        unpack(b"not a zip")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_that_is_named_twice_is_refused():
    with pytest.raises(DataError, match="twice"):
        unpack(archive(("a", b"1"), ("a", b"2")))
