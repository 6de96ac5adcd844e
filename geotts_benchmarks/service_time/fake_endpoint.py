"""A fake OpenAI-compatible engine with a fixed answer time, so that servers in front of one can be compared.

python -m geotts_benchmarks.service_time.fake_endpoint --port 9000 --seconds 0.2
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import click
import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

_CONTENT = '{"lat": 48.8584, "lon": 2.2945, "country": "France", "city": "Paris", "confidence": 0.8}'


def upstream(seconds: float) -> Starlette:
    """`POST /v1/chat/completions` answers after `seconds`, with as many choices as `n` asks for."""

    async def chat(request: Request) -> Response:
        asked: dict[str, Any] = orjson.loads(await request.body())
        await asyncio.sleep(seconds)
        choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": _CONTENT}}
        return JSONResponse(
            {
                "id": "chatcmpl-fake",
                "object": "chat.completion",
                "created": int(time.time()),
                "model": asked.get("model", "fake"),
                "choices": [{"index": i, **choice} for i in range(int(asked.get("n") or 1))],
                "usage": {"prompt_tokens": 100, "completion_tokens": 30, "total_tokens": 130},
            }
        )

    async def models(request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": "fake", "object": "model", "owned_by": "bench"}]})

    return Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"]), Route("/v1/models", models)])


@click.command()
@click.option("--port", type=int, default=9000, show_default=True)
@click.option("--seconds", type=float, default=0.2, show_default=True, help="Time to an answer.")
def main(port: int, seconds: float) -> None:
    """Serve the fake engine until Ctrl-C."""
    uvicorn.run(upstream(seconds), port=port, log_level="warning")


if __name__ == "__main__":
    main()
