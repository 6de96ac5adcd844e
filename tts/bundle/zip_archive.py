"""A canonical zip: the same contents give the same bytes, so any change gives a different archive.

Entries are stored (not compressed), sorted by name, of the date 1980-01-01, with the mode 0644 and nothing else.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping

from tts.errors import DataError

_ENTRY_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*(/[a-z0-9][a-z0-9_.-]*)?")
_DAMAGE_ERRORS = (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, RuntimeError, OSError)
_MAX_ENTRIES = 2000
_MAX_BYTES = 512 * 2**20


def pack(entries: Mapping[str, bytes]) -> bytes:
    """The archive of these files by name. Raises DataError for a name that is not plain."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED, strict_timestamps=True) as archive:
        for name in sorted(entries):
            if not _ENTRY_NAME.fullmatch(name):
                raise DataError(f"{name[:80]!r} is no name in a bundle")
            entry = zipfile.ZipInfo(name)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, entries[name])
    return out.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    """The files of a bundle. What the archive is otherwise, `pack` of them shows.

    Raises:
        DataError: it is no zip, is too large, or names a file twice or badly.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > _MAX_ENTRIES or sum(one.file_size for one in entries) > _MAX_BYTES:
                raise DataError(f"the bundle has more than {_MAX_ENTRIES} files or {_MAX_BYTES // 2**20} MiB")
            if any(one.compress_type != zipfile.ZIP_STORED for one in entries):
                raise DataError("the bundle has compressed entries: it is not canonical")
            found = {one.filename: archive.read(one) for one in entries}
    except _DAMAGE_ERRORS as error:
        raise DataError(f"this is no bundle, or it is damaged: {error}") from error
    if len(found) != len(entries):
        raise DataError("the bundle names a file twice")
    return found
