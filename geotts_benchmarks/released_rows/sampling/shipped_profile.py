"""A shipped profile as a service has it, and what it sends to an endpoint: played rollouts, and bodies of requests."""

from __future__ import annotations

import base64
import io
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import orjson
from PIL import Image

from deployments.config import AppArgs, load_config
from geotts_benchmarks.released_rows.played_rollout import PlayedRollout, made_photo, played_rollout
from geotts_benchmarks.released_rows.played_tools import played_toolbox
from geotts_benchmarks.released_rows.played_transport import PlayedTransport
from tts.config import OpenAIEngine
from tts.dialects import DIALECTS
from tts.dialects.base import Dialect
from tts.dialects.released.tool_name import released_system
from tts.domain.photo import Photo
from tts.domain.photo_cleaning import load_photo
from tts.inference.openai.endpoint.sent_pictures import PictureCache
from tts.inference.openai.request_json import body_for
from tts.ports.model_client import ModelRequest
from tts.profiles import load_profile

ENDPOINT: Final = "http://127.0.0.1:9/v1"
_N_REPEATED_OUTPUTS: Final = 70


@dataclass(frozen=True)
class ShippedProfile:
    """A profile with one of its released paths."""

    args: AppArgs
    dialect: Dialect
    path: str

    async def play(self, outputs: Sequence[str], photo: Photo | None = None, *, n: int = 1) -> PlayedRollout:
        """One of `n` rollouts that says these outputs."""
        system = released_system(self.args.dialect, self.path) if self.path else self.args.dialect
        async with played_toolbox(system, PlayedTransport({"status": 200, "reply": {}})) as toolbox:
            shown = photo or made_photo(1008, 756)
            return await played_rollout(self.dialect, toolbox, shown, outputs, limits=self.args.limits, n=n)

    async def turns(self, output: str) -> int:
        """How often a model that always says this is asked."""
        return len((await self.play([output] * _N_REPEATED_OUTPUTS)).requests)

    async def body(self, request: ModelRequest) -> dict[str, Any]:
        """The JSON that an endpoint of vLLM gets."""
        assert isinstance(self.args.engine, OpenAIEngine)
        engine = self.args.engine.model_copy(update={"server": "vllm", "pictures": "inline"})
        written = await body_for(request, engine, "m", PictureCache(quality=engine.jpeg_quality))
        made: dict[str, Any] = orjson.loads(orjson.dumps(written.wire))
        return made

    async def first_body(self, *, n: int = 1, photo: Photo | None = None) -> dict[str, Any]:
        """The first request of one of `n` rollouts, as JSON; about `photo` or one of 1008x756 pixels."""
        return await self.body((await self.play([""], photo, n=n)).requests[0])


@lru_cache(maxsize=8)
def load_shipped_profile(system: str, path: str = "") -> ShippedProfile:
    """The profile of a system loaded once, with `path` as its `released_path`; "" for the profile's own."""
    profile = load_profile(system)
    over = {"dialect_settings": {"released_path": path}} if path else {}
    args = load_config(None, over, profile=profile.tree(model="m", endpoint=ENDPOINT))
    return ShippedProfile(args, DIALECTS[args.dialect].with_settings(args.dialect_settings), path)


def context_length(system: str) -> int:
    """What the profile has its model served with, at an endpoint and in this process alike; 0 where they differ."""
    profile = load_profile(system)
    at_endpoint = int(profile.serve[profile.serve.index("--max-model-len") + 1])
    return at_endpoint if profile.vllm.get("max_model_len") == at_endpoint else 0


def pictures_in(body: dict[str, Any]) -> list[bytes]:
    """The pictures of a body, as they were encoded."""
    contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    urls = [part["image_url"]["url"] for content in contents for part in content if part["type"] == "image_url"]
    return [base64.b64decode(url.partition(",")[2]) for url in urls]


@lru_cache(maxsize=4)
def grainy_photo(width: int, height: int) -> Photo:
    """A photo of that size whose every pixel differs from the next, so that filters tell."""
    noise = Image.frombytes("RGB", (width, height), random.Random(7).randbytes(width * height * 3))
    out = io.BytesIO()
    noise.save(out, "JPEG", quality=90)
    return load_photo(out.getvalue())
