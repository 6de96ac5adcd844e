"""A conversation in the form an endpoint takes: without a system role, in strict turns, with fewer pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tts.domain.messages import ImagePart, Message, TextPart
from tts.inference.openai.endpoint.traits import EndpointTraits

_DROPPED_PICTURE_TEXT = "[a picture was here; this endpoint takes no more pictures]"


def accepted_messages(
    messages: Sequence[Message], traits: EndpointTraits, *, lists_tools: bool = True
) -> tuple[Message, ...]:
    """The same conversation under the endpoint's limits; `lists_tools`: the request has tools beside its messages."""
    kept = tuple(messages)
    if traits.max_images is not None:
        kept = _drop_pictures(kept, traits.max_images)
    if not traits.keeps_system(lists_tools=lists_tools):
        kept = _system_as_user(kept)
    return kept


def _drop_pictures(messages: tuple[Message, ...], most: int) -> tuple[Message, ...]:
    """The first picture, which is the photo, and the latest of the others; words stand where the rest was."""
    places = [
        (i, j)
        for i, message in enumerate(messages)
        for j, part in enumerate(message.parts)
        if isinstance(part, ImagePart)
    ]
    if len(places) <= most:
        return messages
    shown = {places[0], *(places[len(places) - most + 1 :])}
    return tuple(
        message.model_copy(
            update={
                "parts": tuple(
                    TextPart(text=_DROPPED_PICTURE_TEXT)
                    if isinstance(part, ImagePart) and (i, j) not in shown
                    else part
                    for j, part in enumerate(message.parts)
                )
            }
        )
        if message.images
        else message
        for i, message in enumerate(messages)
    )


def _system_as_user(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(m.model_copy(update={"role": "user"}) if m.role == "system" else m for m in messages)


def merge_into_turns(written: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Wire messages in strict turns: neighbours of the user become one, and so do plain ones of the assistant."""
    joined: list[dict[str, Any]] = []
    for message in written:
        before = joined[-1] if joined else None
        if before is None or before["role"] != message["role"] or not (_is_plain(before) and _is_plain(message)):
            joined.append(message)
        else:
            joined[-1] = {**before, "content": [*_parts(before["content"]), *_parts(message["content"])]}
    return joined


def _is_plain(message: dict[str, Any]) -> bool:
    return message["role"] in ("user", "assistant") and "tool_calls" not in message


def _parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]
