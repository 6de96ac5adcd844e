"""A run file holds the answers of one system: after a change of the service, its answers go into another file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tts.domain.answer import Provenance
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run
from tts.errors import DataError

_COMPARED_FIELDS = ("engine", "model", "dialect", "prompt_sha256")


class OneSystem:
    """A solver that refuses answers of another engine, model, dialect or prompt than the first answer's.

    `first` is where an answer of the same file came from, None when there is none yet. After a difference nothing more
    is asked: every call raises DataError, which names what differs.
    """

    def __init__(
        self, solve: Callable[[str, bytes, LocateOptions], Awaitable[Run]], first: Provenance | None = None
    ) -> None:
        self._solve = solve
        self._first_provenance = first
        self._difference = ""

    async def __call__(self, request_id: str, photo: bytes, options: LocateOptions) -> Run:
        """Raises DataError when this answer or an earlier one differs. A run without an answer passes."""
        self._check_difference()
        run = await self._solve(request_id, photo, options)
        if run.answer is not None:
            found = run.answer.provenance
            first = self._first_provenance = self._first_provenance or found
            self._difference = next(
                (name for name in _COMPARED_FIELDS if getattr(first, name) != getattr(found, name)), ""
            )
            self._check_difference()
        return run

    def _check_difference(self) -> None:
        if self._difference:
            name = self._difference.removesuffix("_sha256")
            raise DataError(f"the service answers with another {name} than before: record into another file (--out)")
