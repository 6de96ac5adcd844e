"""The places that a request claims, looked up before its work starts: a claim that names none is refused at once."""

from __future__ import annotations

import asyncio

from deployments.wiring.parts import clue_reader
from tts.clues.claimed_places import claimed_place
from tts.domain.claim import CheckOptions, ClaimedPlace
from tts.domain.request import LocateOptions
from tts.errors import RequestError


async def places_claimed(options: LocateOptions, data_dir: str | None) -> tuple[ClaimedPlace, ...]:
    """The claimed places of a check; none for any other request.

    Raises:
        RequestError: a claim names no place, or several.
        DataError: the gazetteer is not built.
    """
    if not isinstance(options, CheckOptions):
        return ()
    return await asyncio.to_thread(_looked_up, options, data_dir)


def _looked_up(options: CheckOptions, data_dir: str | None) -> tuple[ClaimedPlace, ...]:
    reader = clue_reader(data_dir)
    found, errors = [], []
    for number, statement in enumerate(options.claim):
        try:
            found.append(claimed_place(statement, reader))
        except ValueError as error:
            field = "claim" if len(options.claim) == 1 else f"claim.{number}"
            errors.append({"field": field, "problem": str(error)})
    if errors:
        raise RequestError("; ".join(f"{e['field']}: {e['problem']}" for e in errors), errors=tuple(errors))
    return tuple(found)
