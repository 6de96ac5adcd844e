"""Calibrations that were fitted on this machine, each for one engine, dialect and set of tools.

They are in the user's data folder and survive upgrades. Each is valid for the engine, dialect and tools in its name,
because other weights, dialects or providers make other errors.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from pathlib import Path

import orjson
from platformdirs import user_data_path

from tts.config import OpenAIEngine, PipelineConfig, VllmEngine
from tts.domain.value import Value
from tts.errors import DataError
from tts.net.url_secrets import bare_url
from tts.verify.consensus.calibration import Calibration, load

_log = logging.getLogger(__name__)
_DIGEST_DIGITS = 12
_UNSAFE_NAME_CHARS = re.compile(r"[^A-Za-z0-9.]+")


class CalibrationKey(Value):
    """What a calibration holds for. `tools` is a digest of the providers behind the tools."""

    engine: str
    model: str
    dialect: str
    tools: str

    @property
    def file_name(self) -> str:
        """Readable, and different for different keys."""
        digest = hashlib.sha256(orjson.dumps(self.jsonable(), option=orjson.OPT_SORT_KEYS)).hexdigest()
        readable = _UNSAFE_NAME_CHARS.sub("-", f"{self.engine}-{Path(self.model).name}-{self.dialect}").strip("-")
        return f"{readable[:80]}-{digest[:_DIGEST_DIGITS]}.yaml"


def calibration_key(args: PipelineConfig) -> CalibrationKey:
    """The key of a configuration. An endpoint whose model is not named is known by its address."""
    if args.engines:
        shares = ", ".join(f"{member.name} {member.share:g}" for member in args.engines)
        return CalibrationKey(engine="mixture", model=shares, dialect=args.dialect, tools=_tools_digest(args))
    engine = args.engine
    model = engine.model if isinstance(engine, OpenAIEngine | VllmEngine) else ""
    if isinstance(engine, OpenAIEngine) and not model:
        model = bare_url(engine.base_url)
    observer_model = args.observer.model if isinstance(args.observer, OpenAIEngine | VllmEngine) else ""
    return CalibrationKey(
        engine=engine.name,
        model=f"{model} with {observer_model}" if observer_model else model,
        dialect=args.dialect,
        tools=_tools_digest(args),
    )


def _tools_digest(args: PipelineConfig) -> str:
    return hashlib.sha256("\n".join(args.tools.providers).encode()).hexdigest()[:_DIGEST_DIGITS]


def user_calibrations() -> Path:
    """The folder: `$GEOTTS_CALIBRATIONS`, else in the user's data."""
    named = os.environ.get("GEOTTS_CALIBRATIONS")
    return Path(named).expanduser() if named else user_data_path("geotts") / "calibration"


def installed_file(args: PipelineConfig) -> Path | None:
    """The file that was installed for a configuration, if there is one."""
    path = user_calibrations() / calibration_key(args).file_name
    return path if path.is_file() else None


def installed_calibration(args: PipelineConfig) -> Calibration | None:
    """What was installed for a configuration; None, with a line in the log, where this release cannot read it."""
    path = installed_file(args)
    if path is None:
        return None
    try:
        return load(path)
    except DataError as error:
        _log.warning("%s; it is not used. `geotts accept` makes it again", error.detail)
        return None


def install(calibration: Calibration, args: PipelineConfig) -> Path:
    """Keep a calibration for a configuration, in place of an earlier one. A reader never sees half of it.

    Raises:
        DataError: when the folder cannot be written.
    """
    path = user_calibrations() / calibration_key(args).file_name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}.tmp")
        calibration.write(unfinished)
        os.replace(unfinished, path)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}; GEOTTS_CALIBRATIONS names another folder") from error
    return path
