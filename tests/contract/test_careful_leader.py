"""`geotts locate --set routing.width=careful` with a model behind an endpoint."""

import asyncio
import json
import sys

import pytest
from support.endpoint import serving, text_chunks

from tts.package_files import SAMPLES

PROGRAM = "import sys; from deployments.cli import main; sys.argv[0] = 'geotts'; main()"
SIGN = SAMPLES / "town-sign-latin.jpg"
PARIS = {"lat": 48.8566, "lon": 2.3522, "city": "Paris", "country": "France"}
ROME = {"lat": 41.9028, "lon": 12.4964, "city": "Rome", "country": "Italy"}
NOTHING_EXPLICIT = "Warm light and plane trees, no signs are visible."
pytestmark = pytest.mark.slow


async def rollouts_of(leader, siblings, width, why="The sign says it."):
    """How many of four were asked, and the answer. The first conversation is the leader's."""
    asked = []

    def speak(body, number):
        if not body["stream"]:
            return text_chunks("ok")
        asked.append(number)
        return text_chunks(f"{why}\n{json.dumps(leader if len(asked) == 1 else siblings)}")

    async with serving(speak) as endpoint:
        engine = f"engine={{name: openai, base_url: '{endpoint.url}', model: m}}"
        settings = ["--set", engine, "--set", f"routing.width={width}"]
        typed = ["locate", str(SIGN), "-n", "4", "--stop", "none", "--json", *settings]
        running = await asyncio.create_subprocess_exec(
            sys.executable, "-c", PROGRAM, *typed, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await running.communicate()
    assert running.returncode == 0, err.decode()
    return len(asked), json.loads(out)["answer"]


@pytest.mark.parametrize(
    ("siblings", "width", "why", "count"),
    [
        (PARIS, "careful", "The sign says it.", 2),
        (PARIS, "full", "The sign says it.", 4),
        (ROME, "careful", "The sign says it.", 4),
        (PARIS, "careful", NOTHING_EXPLICIT, 4),
    ],
    ids=["a sure leader that is confirmed", "full starts all", "a leader that is not confirmed", "an unsure leader"],
)
async def test_the_leader_and_its_confirmation_decide_how_many_rollouts_run(data_store, siblings, width, why, count):
    asked, answer = await rollouts_of(PARIS, siblings, width, why)
    assert (asked, answer["n"]["run"]) == (count, count)
    assert answer["country"] == ("Italy" if siblings is ROME else "France")
