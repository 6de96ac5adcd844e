"""Looks up the places that a request names before its work starts. A name without a place is refused at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from deployments.wiring.parts import clue_reader
from geotts_client.statements import Statement
from tts.clues.claimed_places import claimed_place
from tts.clues.clue_reader import ClueReader
from tts.domain.claim import CheckOptions, ClaimedPlace
from tts.domain.request import LocateOptions
from tts.errors import RequestError


async def look_up_claimed_places(options: LocateOptions, data_dir: str | None) -> tuple[ClaimedPlace, ...]:
    """The claimed places of a check; none for any other request.

    Raises:
        RequestError: a claim names no place, or several.
        DataError: the gazetteer is not built.
    """
    if not isinstance(options, CheckOptions):
        return ()
    statements = options.claim
    return await asyncio.to_thread(lambda: look_up_places("claim", statements, clue_reader(data_dir)))


async def with_ruled_out_places(options: LocateOptions, data_dir: str | None) -> LocateOptions:
    """The options with the places that they rule out, looked up.

    Raises:
        RequestError: a name that is ruled out is that of no place.
        DataError: the gazetteer is not built.
    """
    if all(isinstance(place, ClaimedPlace) for place in options.not_there):
        return options
    found = await asyncio.to_thread(lambda: look_up_places("not_there", options.not_there, clue_reader(data_dir)))
    return options.model_copy(update={"not_there": found})


def look_up_places(
    field: str, statements: Sequence[Statement | ClaimedPlace], reader: ClueReader
) -> tuple[ClaimedPlace, ...]:
    """The places that some statements name. Raises RequestError about the `field` with every one that names none."""
    places, errors = [], []
    for number, statement in enumerate(statements):
        try:
            places.append(statement if isinstance(statement, ClaimedPlace) else claimed_place(statement, reader))
        except ValueError as error:
            name = field if len(statements) == 1 else f"{field}.{number}"
            errors.append({"field": name, "problem": str(error)})
    if errors:
        raise RequestError("; ".join(f"{e['field']}: {e['problem']}" for e in errors), errors=tuple(errors))
    return tuple(places)
