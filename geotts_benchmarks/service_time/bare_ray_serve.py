"""The least that any service on Ray Serve does with a photo: the baseline of `geotts bench control`.

It is an application that reads the form, waits as long as the engine takes, and replies; and the time that a clean copy
of a photo takes. Both depend on the machine alone, so they show how much of a figure comes from the machine.
"""

# no postponed annotations: Serve makes another function of the route, where FastAPI would not resolve them
import asyncio
import time
from typing import Annotated

from fastapi import FastAPI, File

from deployments.serve.ray_env import prepare_environment
from geotts_benchmarks.harness import median
from tts.domain.photo_cleaning import load_photo

prepare_environment()

from ray import serve  # noqa: E402  after the environment is set

_app = FastAPI()
_REPEATS = 100


@serve.ingress(_app)
class BareDeployment:
    """Reads a photo and does nothing with it for some seconds."""

    def __init__(self, engine_s: float) -> None:
        self._engine_s = engine_s

    @_app.post("/locate")
    async def locate(self, image: Annotated[bytes, File()]) -> dict[str, int]:
        """Read the uploaded photo, wait as long as the engine takes, and return the number of its bytes."""
        await asyncio.sleep(self._engine_s)
        return {"bytes": len(image)}


def bare(engine_s: float) -> serve.Application:
    """The application over an engine that takes `engine_s` seconds."""
    return serve.deployment(max_ongoing_requests=100)(BareDeployment).bind(engine_s)


def photo_ms(photo: bytes) -> float:
    """Median milliseconds from its bytes to the clean copy, with nothing else at work."""
    walls = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        load_photo(photo)
        walls.append(time.perf_counter() - started)
    return median(walls) * 1e3
