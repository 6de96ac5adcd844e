"""The input of `geotts locate --continue ID`: an earlier request of a service, and what is added to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from deployments.cli.inputs import Input
from geotts_client.continue_options import MAX_FACT, ContinueOptions
from tts.api.client import Client
from tts.domain.events import Event
from tts.domain.request import LocateOptions

ANSWER = "answer"  # what `--not-there` says for the earlier answer
_KEPT_OPTIONS = frozenset({"within", "deadline_s", "include"})


@dataclass(frozen=True, slots=True)
class ContinuedRequest:
    """An earlier request, as something to follow like a photo, and what is added to it."""

    label: str
    options: ContinueOptions
    photos: tuple[Input, ...]

    def read(self) -> list[bytes]:
        """The further photos: the service has the earlier one. Raises OSError."""
        return [photo.read() for photo in self.photos]

    def events(self, client: Client, further: bytes | list[bytes], _: LocateOptions) -> AsyncIterator[Event]:
        """The events of the request that continues the earlier one."""
        return client.stream_continued(self.label, self.options, further)


def continued_request_of(
    request_id: str, not_there: Sequence[str], fact: str | None, photos: Sequence[Input], fields: dict[str, Any]
) -> ContinuedRequest:
    """What some options of the command line add.

    Raises:
        click.BadParameter: an option that the earlier request has decided already.
    """
    if ANSWER in not_there and len(not_there) > 1:
        raise click.BadParameter(f"give either `{ANSWER}` or names of places, not both", param_hint="--not-there")
    if fact is not None and len(fact) > MAX_FACT:
        raise click.BadParameter(f"a fact has at most {MAX_FACT} characters", param_hint="--fact")
    if strange := sorted(fields.keys() - _KEPT_OPTIONS):
        names = ", ".join("--" + name.replace("_", "-") for name in strange)
        raise click.BadParameter(
            f"{names}: the earlier request decides this; leave it out, or send a new request", param_hint="--continue"
        )
    rejected: Any = True if list(not_there) == [ANSWER] else tuple(not_there) or None
    return ContinuedRequest(request_id, ContinueOptions(not_there=rejected, fact=fact, **fields), tuple(photos))
