"""`geotts locate --continue`, and both Python clients, against a real service with the embedded engine."""

import asyncio
import json
from dataclasses import dataclass

import pytest
from click.testing import CliRunner

from deployments.cli import cli
from geotts_client import Client, ContinueOptions, LocateOptions, NotFound, RequestError, SyncClient
from tts.package_files import sample_photos

pytestmark = pytest.mark.slow
SIGN = sample_photos()["town-sign-latin.jpg"]  # Bellinzona
GIVEN = LocateOptions(seed=1, n_parallel=2)


@dataclass
class Ran:
    code: int
    text: str


async def locate(*arguments):
    done = await asyncio.to_thread(CliRunner().invoke, cli, ["locate", *arguments], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return Ran(done.return_value, done.stdout)


async def test_the_command_line_continues_a_request_by_its_printed_id(url):
    first = await locate(str(SIGN), "--url", url, "--seed", "1")
    assert "Bellinzona" in first.text
    request_id = first.text.split("request ")[1].split()[0]
    second = await locate("--continue", request_id, "--url", url)
    words = " ".join(second.text.replace("│", " ").split())
    assert second.code == 0
    assert "The photo says Bellinzona (Switzerland), which you ruled out." in words
    assert "The answer" in words.split("which you ruled out.", 1)[1]
    fact = await locate(
        "--continue", request_id, "--fact", "not in Switzerland", "--within", "IT", "--url", url, "--json"
    )
    answer = json.loads(fact.text)["answer"]
    assert answer["changed"]["why"] == ["you ruled out Switzerland", "you named an area"]


async def test_not_there_rules_a_place_out_with_local_too(data_store):
    found = json.loads((await locate(str(SIGN), "--local", "--not-there", "Bellinzona", "--json")).text)
    assert found["answer"]["city"] != "Bellinzona"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--continue", "loc_0"),
        (str(SIGN), "--fact", "in France"),
        ("--continue", "loc_0", "--url", "http://127.0.0.1:9", "--seed", "1"),
        ("--continue", "loc_0", "--url", "http://127.0.0.1:9", "--not-there", "answer", "--not-there", "Sofia"),
    ],
)
def test_options_that_do_not_fit_together_are_wrong_use(arguments):
    done = CliRunner().invoke(cli, ["locate", *arguments], env={"GEOTTS_URL": ""})
    assert done.exit_code == 2, done.output


async def test_the_client_continues_and_streams(url):
    async with Client(url) as client:
        first = await client.locate(SIGN, GIVEN)
        second = await client.continue_(first.accepted.request_id)
        assert second.accepted.continues == second.answer.changed.continues == first.accepted.request_id
        addition = ContinueOptions(not_there=("Lugano",), fact="in Italy")
        events = [event async for event in client.stream_continued(second.accepted.request_id, addition, SIGN)]
        assert events[-1].type == "done"
        assert len(events[0].photos) == 2
        with pytest.raises(NotFound):
            await client.continue_("loc_" + "0" * 20)
        with pytest.raises(RequestError, match="names no place"):
            await client.continue_(first.accepted.request_id, ContinueOptions(not_there=("Nowhereville-on-Sea",)))


def continued_blocking(url):
    with SyncClient(url) as client:
        first = client.locate(SIGN, GIVEN).accepted.request_id
        kinds = [event.type for event in client.stream_continued(first, ContinueOptions(fact="in Italy"))]
        return kinds, client.continue_(first).answer.changed


async def test_the_blocking_client_continues_and_streams(url):
    kinds, changed = await asyncio.to_thread(continued_blocking, url)
    assert (kinds[0], kinds[-1]) == ("accepted", "done")
    assert changed.why == ("you ruled out Bellinzona (Switzerland)",)
