"""Estimates the tokens of messages, for engines that do not count them before a request."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from tts.domain.messages import Message, TextPart
from tts.domain.text_length import LATIN_CHARS_A_TOKEN
from tts.domain.token_price import Price
from tts.domain.usage import Usage
from tts.ports.toolbox import ToolSchema

# Qwen3-VL: a token a merged patch of 32x32 pixels (processor configuration of Qwen/Qwen3-VL-30B-A3B-Instruct), and one
# before and after a picture.
_PIXELS_PER_TOKEN = 32 * 32
_FIRST_WIDE_CHAR = 0x2E80  # from here on a token has about one character, as in Han


def tokens_about(messages: Sequence[Message]) -> int:
    """An estimate that is good to some ten percent."""
    wide = sum(ord(char) >= _FIRST_WIDE_CHAR for message in messages for char in message.text)
    chars = sum(len(message.text) for message in messages)
    pictures = sum(
        2 + math.ceil(image.width * image.height / _PIXELS_PER_TOKEN)
        for message in messages
        for image in message.images
    )
    return wide + math.ceil((chars - wide) / LATIN_CHARS_A_TOKEN) + pictures


def prompt_tokens_about(messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int:
    """What the next turn has to read: the conversation and the tools it lists."""
    listed = sum(len(tool.name) + len(tool.description) + len(json.dumps(tool.parameters)) for tool in tools)
    return tokens_about(messages) + math.ceil(listed / LATIN_CHARS_A_TOKEN)


def usage_about(
    messages: Sequence[Message], tools: Sequence[ToolSchema], written: str, price: Price | None = None
) -> Usage:
    """What a turn cost that was cut off before its engine could say: by the size of what was read and written. Its GPU
    seconds are counted for the request (`tts.inference.unreported_gpu_time`).
    """
    message = Message(role="assistant", parts=(TextPart(text=written),))
    read = prompt_tokens_about(messages, tools)
    usage = Usage(model_calls=1, prompt_tokens=read, completion_tokens=tokens_about([message]))
    return usage if price is None else usage.model_copy(update={"cost_usd": price.cost_usd(usage)})
