"""The error texts of the evaluation's loop, and how it reads arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from tools.released.written_arguments import verbatim_error
from tts.errors import ToolError

_ARGUMENT_ERRORS: Final = (
    TypeError,
    ValueError,
    ZeroDivisionError,
    OverflowError,
    LookupError,
    AttributeError,
    MemoryError,
)


@contextmanager
def as_call_error() -> Iterator[None]:
    """Report what breaks inside the block as `Tool call error: …`, in the words of the exception.

    Raises:
        ToolError: what `call_error` makes of the exception.
    """
    try:
        yield
    except _ARGUMENT_ERRORS as error:
        raise call_error(str(error)) from error


def call_error(what: str) -> ToolError:
    """Report a failure as `Tool call error: …`.

    Args:
        what: the message, most often that of an exception.

    Returns:
        The error, with `what` as it is; the caller raises it.
    """
    return verbatim_error(f"Tool call error: {what}")


def object_of(written: Any) -> dict[str, Any]:
    """Read the arguments of a call.

    Args:
        written: the arguments as the model wrote them, any JSON value.

    Returns:
        The arguments by name; empty for a text that is no JSON.

    Raises:
        AttributeError: they are no object, in the words of Python.
    """
    if isinstance(written, str):
        try:
            written = json.loads(written)
        except (ValueError, RecursionError):
            return {}
    if not isinstance(written, dict):
        raise AttributeError(f"'{type(written).__name__}' object has no attribute 'get'")
    return written


def whole_numbers(box: Any) -> list[int]:
    """Cut the sides of a box to whole numbers; numeric texts count.

    Args:
        box: the box as the model wrote it, any JSON value.

    Returns:
        As many numbers as the box has items.

    Raises:
        TypeError, ValueError, OverflowError: it is no list, or a side is no finite number; in the words of Python.
    """
    return [int(float(side)) for side in box]
