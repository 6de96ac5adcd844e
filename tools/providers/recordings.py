"""Recorded searches in whichever of the known layouts the operator's file or folder has."""

from __future__ import annotations

from pathlib import Path

from tools.providers.reverse_files import ReverseFilesSearch
from tools.providers.reverse_tape import ReverseTapeSearch
from tools.providers.tape import TapeSearch
from tts.config import ProviderSettings
from tts.errors import ConfigError
from tts.eval.photo_table import read_photo_table
from tts.toolkit.reverse_cache.evaluation import has_files, read_files
from tts.toolkit.reverse_cache.tables import has_tables, read_tables
from tts.toolkit.reverse_cache.tape_conversion import as_tape
from tts.toolkit.tape.file import read_tape
from tts.toolkit.tape.reverse_layout import import_reverse
from tts.toolkit.tape.similar_searches import SearchTape

Recordings = TapeSearch | ReverseTapeSearch | ReverseFilesSearch


def open_recordings(settings: ProviderSettings) -> Recordings:
    """Open the recorded searches of the operator's file or folder.

    Args:
        settings: those of the provider `tape`: `path` is the file or folder, `photos` the table of the photos' recorded
            paths, and `matching` decides how a recorded search is found.

    Returns:
        A provider of both searches, by text and by picture. Its class depends on the layout and on `matching`.

    Raises:
        ConfigError: `path` is missing.
        DataError: what is there cannot be read, or is no layout that is known.
    """
    if settings.path is None:
        raise ConfigError("tape needs tools.settings.tape.path: a tape file, or a folder in the REVERSE layout")
    file = Path(settings.path).expanduser()
    paths = read_photo_table(Path(settings.photos).expanduser()) if settings.photos is not None else {}
    if has_files(file) and not has_tables(file):
        return ReverseFilesSearch(read_files(file), paths)
    if settings.matching == "reverse":
        return ReverseTapeSearch(read_tables(file, paths))
    if has_tables(file):
        return TapeSearch(as_tape(read_tables(file, paths)))
    return TapeSearch(import_reverse(file) if file.is_dir() else SearchTape.from_rows(read_tape(file).rows))
