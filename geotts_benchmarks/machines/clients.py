"""Steady clients of a service, in a process of their own: `python -m geotts_benchmarks.machines.clients URL`.

Each sends a photo, reads the stream to its end and writes a line to stdout about what it saw (`ClientRequest`); then it
sends the next. They use the client of the project, with the key in GEOTTS_API_KEY: it resumes streams, sends again
under an idempotency key, and goes on at the next address. When stdin is closed they end what they have begun.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from contextlib import aclosing
from dataclasses import asdict, dataclass, field

import click
import orjson

from geotts_benchmarks.plain_photo import plain_photo
from geotts_client.client import Client
from geotts_client.errors import GeoTTSError, Overloaded, RequestError, ServerUnreachable
from geotts_client.events import Accepted, Answered, Failed, TurnFinished
from geotts_client.options import LocateOptions
from tts.aio import spawn

_UNANSWERED_PAUSE_S = 0.5
_GRACE_S = 5.0  # after the deadline of a request, for its last event to arrive


@dataclass(slots=True)
class ClientRequest:
    """One request as its client saw it. Moments are those of `time.monotonic()`, which all processes here share.

    `outcome`: `answered`; `declared`, an error or a refusal with a status of 503 or 429; `unreachable`, when there was
    no reply at all; `hung`, when nothing came until after its deadline; `failed`, all others, `detail` says how.
    `turns`: (rollout, turn, moment) of every finished turn. `asked`: the hint of the request, unlike that of any other.
    """

    started_at: float
    ended: float = 0.0
    request_id: str = ""
    accepted: float = 0.0
    outcome: str = "failed"
    detail: str = ""
    turns: list[tuple[int, int, float]] = field(default_factory=list)
    asked: str = ""


async def ask(client: Client, photo: bytes, options: LocateOptions, *, within_s: float) -> ClientRequest:
    """One request to its end, or until `within_s` and a moment have passed."""
    seen = ClientRequest(started_at=time.monotonic(), asked=options.hint or "")
    try:
        async with asyncio.timeout(within_s + _GRACE_S):
            await _follow(client, photo, options, seen)
    except TimeoutError:
        seen.outcome = "hung"
    except Overloaded as error:
        seen.outcome = "declared"
        seen.detail = f"{error.status} {error.detail}"
    except ServerUnreachable as error:
        seen.outcome = "failed" if seen.accepted else "unreachable"
        seen.detail = error.detail
    except (RequestError, GeoTTSError) as error:
        seen.outcome = "failed"
        seen.detail = f"{error.status} {error.code}: {error.detail}"
    seen.ended = time.monotonic()
    return seen


async def _follow(client: Client, photo: bytes, options: LocateOptions, seen: ClientRequest) -> None:
    async with aclosing(client.stream(photo, options)) as events:
        async for event in events:
            now = time.monotonic()
            if isinstance(event, Accepted):
                seen.request_id = event.request_id
                seen.accepted = now
            elif isinstance(event, TurnFinished):
                seen.turns.append((event.rollout_id, event.turn, now))
            elif isinstance(event, Answered):
                seen.outcome = "answered"
            elif isinstance(event, Failed):
                seen.outcome = "declared" if event.status in (429, 503) else "failed"
                seen.detail = f"{event.status} {event.code}: {event.detail}"


def addresses_of(urls: str, number: int) -> str:
    """The addresses of a service in the order in which one of its clients tries them. Each begins at another one, so
    that all of them have traffic.
    """
    known = urls.split(",")
    first = number % len(known)
    return ",".join([*known[first:], *known[:first]])


async def _send_requests(
    url: str, number: int, photo: bytes, options: LocateOptions, deadline_s: float, pause_s: float
) -> None:
    """Requests of one client, one after the other, each with a seed and a hint of its own."""
    rng = random.Random(number)
    async with Client(addresses_of(url, number), api_key=os.environ.get("GEOTTS_API_KEY")) as client:
        while not _STOP_EVENT.is_set():
            seed = rng.randrange(2**31)
            asked = options.model_copy(update={"seed": seed, "hint": f"client {number}, seed {seed}"})
            seen = await ask(client, photo, asked, within_s=deadline_s)
            sys.stdout.buffer.write(orjson.dumps(asdict(seen)) + b"\n")
            sys.stdout.buffer.flush()
            await asyncio.sleep(pause_s if seen.outcome == "answered" else _UNANSWERED_PAUSE_S)


_STOP_EVENT = asyncio.Event()


async def _run(url: str, clients: int, deadline_s: float, parallel: int, pause_s: float) -> None:
    options = LocateOptions(n_parallel=parallel, depth="deep", stop="none", deadline_s=deadline_s)
    photo = plain_photo(320, 240)
    asking = [
        spawn(_send_requests(url, i, photo, options, deadline_s, pause_s), name=f"client {i}") for i in range(clients)
    ]
    await asyncio.to_thread(sys.stdin.read)
    _STOP_EVENT.set()
    await asyncio.gather(*asking)


@click.command()
@click.argument("url")
@click.option("--clients", type=click.IntRange(1, 256), default=8, show_default=True)
@click.option("--deadline-s", type=float, default=60.0, show_default=True)
@click.option("--parallel", type=click.IntRange(1, 16), default=2, show_default=True, help="Rollouts of a request.")
@click.option("--pause-s", type=float, default=0.0, show_default=True, help="Between two requests of a client.")
def main(url: str, clients: int, deadline_s: float, parallel: int, pause_s: float) -> None:
    """Ask the service at URL (or several, separated by commas) until stdin is closed."""
    asyncio.run(_run(url, clients, deadline_s, parallel, pause_s))


if __name__ == "__main__":
    main()
