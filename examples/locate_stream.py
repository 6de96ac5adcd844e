"""Follow one photo live, from the first event to the answer.

python examples/locate_stream.py photo.jpg http://127.0.0.1:8000
"""

import asyncio
import sys
from contextlib import aclosing
from pathlib import Path

from geotts_client import Client, GeoTTSError, LocateOptions
from geotts_client.events import Answered, Hypothesised, Routed, ToolCalled


async def main(photo: Path, url: str = "http://127.0.0.1:8000") -> None:
    """Print the events that tell of the place, one line each, with the seconds since the start."""
    options = LocateOptions(n_parallel=4, target_radius_km=25)
    async with Client(url) as client, aclosing(client.stream(photo, options)) as events:
        async for event in events:  # a cut connection is resumed; leaving this loop early cancels the work
            if isinstance(event, Routed):
                print(f"{event.t_s:6.2f} s  depth {event.plan.depth}, {event.plan.n_planned} rollouts")
            elif isinstance(event, ToolCalled):
                print(f"{event.t_s:6.2f} s  rollout {event.rollout_id}: {event.call.name} {event.call.arguments}")
            elif isinstance(event, Hypothesised):
                print(f"{event.t_s:6.2f} s  rollout {event.rollout_id} thinks: {event.hypothesis.place or '?'}")
            elif isinstance(event, Answered):
                answer = event.answer
                where = "no point"
                if answer.point is not None and answer.radius_km is not None:
                    where = f"{answer.point} ± {answer.radius_km.p90:.0f} km"
                print(f"{event.t_s:6.2f} s  {answer.city} {answer.country}: {where}")
                for item in answer.evidence:
                    print(f"          {'+' if item.supports else '-'} {item.claim}")


if len(sys.argv) not in (2, 3):
    print("usage: python examples/locate_stream.py photo.jpg [URL]", file=sys.stderr)
    sys.exit(2)
try:
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
except (GeoTTSError, OSError) as error:  # no service, a refusal, no such file
    sys.exit(str(error))
