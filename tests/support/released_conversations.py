"""Whole conversations of a released dialect with a scripted endpoint."""

import base64
import io
import os
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from geotts_benchmarks.released_rows.played_tools import played_toolbox
from geotts_benchmarks.single_rollout import run_rollout
from support.basics import a_context
from support.endpoint import serving as an_endpoint
from support.endpoint import text_chunks
from tts.config import OpenAIEngine
from tts.domain.plan import Limits
from tts.inference.openai.engine import OpenAIModel
from tts.ports.rollout_groups import GroupRequest, RolloutTask
from tts.rollout.agent import Agent

FOLDER = Path(os.environ.get("GEOTTS_RELEASED", "../shared/data/released"))
needs_corpus = pytest.mark.skipif(not FOLDER.is_dir(), reason="the corpus of released behaviour is not here")


async def conversation(dialect, system, transport, photo, outputs):
    """Run until the model's last output, with the tools of a system; what the endpoint was asked."""
    async with played_toolbox(system, transport) as toolbox:
        return await played_against(dialect, toolbox, photo, outputs)


async def played_against(dialect, toolbox, photo, outputs):
    """Run over HTTP until the model's last output; the requests of the endpoint, and how the rollout ended."""

    def play(body, number):
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        steps = text_chunks("")
        return [steps[0], {**steps[0], "choices": [{"index": 0, "delta": {"content": outputs[turn]}}]}, *steps[2:]]

    async with an_endpoint(play) as endpoint:
        model = OpenAIModel(
            OpenAIEngine(base_url=endpoint.url, model="m", tools="template", server="vllm", pictures="inline")
        )
        limits = Limits(max_turns=64, max_tool_calls=256, max_tokens=2**20)
        group = GroupRequest(a_context(), (photo,), (), 1, limits)
        items = [item async for item in run_rollout(Agent(model, dialect, toolbox), group, RolloutTask(0, 0))]
        await model.aclose()
    return endpoint.bodies, items[-1]


def sizes(content):
    """Pictures of a message by their size, texts joined where they stand together."""
    made: list[str | tuple[int, int]] = []
    parts: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for part in parts:
        if part["type"] == "text":
            text = part["text"]
            made = [*made[:-1], made[-1] + text] if made and isinstance(made[-1], str) else [*made, text]
        else:
            data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
            made.append(Image.open(io.BytesIO(data)).size)
    return made


def recorded_content(content):
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return join_texts([part["text"] if part["type"] == "text" else picture_size(part["image"]) for part in parts])


def picture_size(picture):
    width, height = picture.removeprefix("<jpeg ").rstrip(">").split("x")
    return int(width), int(height)


def join_texts(parts):
    """Texts joined where they stand beside each other."""
    joined: list[Any] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return joined
