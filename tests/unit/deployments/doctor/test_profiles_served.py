"""Every profile, from its name and an endpoint to an answer over HTTP, with a model that answers in its dialect."""

import httpx
import pytest
from click.testing import CliRunner
from support.endpoint import serving as an_endpoint
from support.endpoint import text_chunks
from support.ports import free_port
from support.profile_scripts import HEFEI, OTARU, TURNS, play_of, verifies
from support.service import PHOTO, serving

from deployments.cli import cli
from deployments.config import load_config
from deployments.doctor.profile import explain
from deployments.wiring.local import local_ports
from tts.domain.geo import LatLon, distance_km
from tts.errors import ConfigError
from tts.profiles import load_profile, profile_names

HERMES_IN_SYSTEM_TEXT = {"spotagent", "geovista"}
IN_CHINA = {"within": '{"kind": "countries", "codes": ["CN"]}'}  # where AMap's tools are offered
WITH_TOOLS = {  # what the endpoint may do with the tools it is given
    "generic": "auto",
    "hosted": "auto",
    "small": "auto",
    "thinking_with_map": "none",
    "reverse": "none",
}


def test_every_profile_has_turns_to_play_in_this_suite():
    assert set(TURNS) == set(profile_names())


async def locate_photo(profile, endpoint, model="", **fields):
    tree = load_profile(profile).tree(model=model, endpoint=endpoint.url)
    args = load_config(None, {"routing": {"method": "fixed"}}, profile=tree)
    where = IN_CHINA if profile == "thinking_with_map" else {}
    return await asked_of(args, **{"depth": "deep", "seed": "1", **where, **fields})


async def asked_of(args, **fields):
    async with serving(args, ports=local_ports(args)) as (url, _), httpx.AsyncClient(timeout=30) as http:
        reply = await http.post(f"{url}/locate", files={"image": PHOTO}, data=fields)
    assert reply.status_code == 200, reply.text
    return reply.json()


@pytest.mark.parametrize("profile", profile_names())
async def test_each_profile_locates_a_photo_with_only_an_endpoint_configured(profile, data_store):
    async with an_endpoint(play_of(profile)) as endpoint:
        reply_body = await locate_photo(profile, endpoint, n_parallel="2")
    answer = reply_body["answer"]
    wanted = HEFEI if profile == "thinking_with_map" else OTARU
    assert distance_km(LatLon(lat=answer["lat"], lon=answer["lon"]), wanted) < 5
    assert answer["n"] == {"asked": 2, "planned": 2, "run": 2, "answered": 2, "abstained": 0, "models": 1}
    assert {body["model"] for body in endpoint.bodies} == {"listed-model"}
    verdicts = [body for body in endpoint.bodies if verifies(body)]
    assert len(verdicts) == (load_profile(profile).verifier.kind == "model")
    assert len(endpoint.bodies) - len(verdicts) == 2 * len(TURNS[profile])


@pytest.mark.parametrize("profile", profile_names())
async def test_the_model_is_asked_as_it_was_trained(profile, data_store):
    """Sampling, length, where tools are described, how results come back: alone, as a profile says it."""
    async with an_endpoint(play_of(profile)) as endpoint:
        reply_body = await locate_photo(profile, endpoint, model="my-own-name", n_parallel="1")
    assert reply_body["answer"]["provenance"]["model"] == "my-own-name"
    assert {body["model"] for body in endpoint.bodies} == {"my-own-name"}
    first, last = endpoint.bodies[0], endpoint.bodies[-1]
    settings = load_profile(profile).dialect_settings
    if settings.alone is not None:
        assert (first["temperature"], first.get("top_k", -1)) == (settings.alone.temperature, settings.alone.top_k)
    assert first["max_tokens"] <= load_profile(profile).limits.max_tokens
    assert first.get("tool_choice") == WITH_TOOLS.get(profile)
    system = first["messages"][0]["content"]
    assert ("<tools>" in str(system)) == (profile in HERMES_IN_SYSTEM_TEXT)
    assert "data:image/jpeg;base64," in str(first["messages"][1]["content"])
    if len(TURNS[profile]) > 1:
        assert (last["messages"][-1]["role"] == "tool") == (load_profile(profile).dialect == "generic")
        assert ("<tool_response>" in str(last["messages"])) == (load_profile(profile).dialect != "generic")


async def test_the_loop_of_the_notebook_has_its_own_number_of_turns(data_store):
    """Twelve calls and then the answer: more than the loop of training, which the profile names first, has turns."""
    search, answer = TURNS["thinking_with_map"]

    def play(body, number):
        turns_so_far = sum(message["role"] == "assistant" for message in body["messages"])
        return text_chunks(answer if verifies(body) or turns_so_far == 12 else search)

    async with an_endpoint(play) as endpoint:
        tree = load_profile("thinking_with_map").tree(model="", endpoint=endpoint.url)
        over = {"routing": {"method": "fixed"}, "dialect_settings": {"released_path": "demo"}}
        reply_body = await asked_of(load_config(None, over, profile=tree), n_parallel="1", seed="1", depth="deep")
    answer = reply_body["answer"]
    assert distance_km(LatLon(lat=answer["lat"], lon=answer["lon"]), HEFEI) < 5
    assert len([body for body in endpoint.bodies if not verifies(body)]) == 13


def run_doctor(*arguments):
    """What `geotts doctor` says, and its exit code."""
    done = CliRunner().invoke(cli, ["doctor", *arguments], standalone_mode=False)
    assert done.exception is None, done.exception
    return done.stdout


@pytest.mark.parametrize("profile", profile_names())
def test_the_doctor_explains_every_profile_without_a_model_or_an_endpoint(profile, data_store):
    """Neither a model nor an endpoint is needed to read what a profile is."""
    page = run_doctor("--profile", profile)
    for what in ("licence of the weights", "dialect", "limits", "sampling alone", "tools"):
        assert f" {what}  " in page
    assert (" an endpoint of your own  " in page) != load_profile(profile).needs_endpoint
    assert f"{load_profile(profile).limits.max_turns} turns" in page


async def test_the_doctor_asks_the_endpoint_whether_it_has_the_model(data_store):
    import asyncio

    async with an_endpoint(play_of("reverse")) as endpoint:
        ask = ["--profile", "reverse", "--endpoint", endpoint.url]
        unnamed = await asyncio.to_thread(run_doctor, *ask)
        named = await asyncio.to_thread(run_doctor, *ask, "--model", "listed-model")
        wrong = await asyncio.to_thread(run_doctor, *ask, "--model", "another")
    gone = await asyncio.to_thread(run_doctor, *ask)
    assert f"✓ endpoint  {endpoint.url} serves listed-model" in unnamed
    assert f"✓ endpoint  {endpoint.url} serves listed-model" in named
    assert "✗ endpoint  another is not there; it has listed-model" in wrong
    assert "✗ endpoint" in gone
    assert "start it, or name another with --endpoint" in gone


def test_the_doctor_says_what_a_model_in_this_process_lacks(data_store, tmp_path, monkeypatch):
    from deployments.doctor import profile as profile_doctor

    monkeypatch.setattr(profile_doctor, "find_spec", lambda name: None)
    page = run_doctor("--profile", "reverse", "--model", str(tmp_path))
    assert "✗ engine  vllm: vLLM is not installed" in page
    monkeypatch.setattr(profile_doctor, "find_spec", lambda name: object())
    assert "✓ engine  vllm" in run_doctor("--profile", "reverse", "--model", str(tmp_path))
    page = run_doctor("--profile", "reverse", "--model", str(tmp_path / "none"))
    assert "✗ engine  vllm: there is no folder" in page


def test_a_service_that_cannot_start_is_refused_before_ray_starts(data_store, monkeypatch):
    from deployments.doctor import profile as profile_doctor

    monkeypatch.setattr(profile_doctor, "find_spec", lambda name: None)
    ask = ["serve", "--profile", "thinking_with_map", "--port", str(free_port())]
    refused = CliRunner().invoke(cli, ask, standalone_mode=False).exception
    assert isinstance(refused, ConfigError)
    assert "vLLM is not installed" in refused.detail
    assert "--endpoint URL" in refused.detail


def test_the_command_that_serves_a_model_can_be_pasted():
    command = load_profile("reverse").serve_command("/models/my reverse")
    assert "--limit-mm-per-prompt '{\"image\":16}'" in command
    assert "'/models/my reverse'" in command


def test_licences_are_shown_with_what_they_forbid(data_store):
    profile = load_profile("geoagent")
    args = load_config(None, {}, profile=profile.tree(model="", endpoint="http://127.0.0.1:9/v1"))
    (licence,) = [found for found in explain("geoagent", profile, args) if found.what == "licence of the weights"]
    assert (licence.detail, licence.cost) == ("CC BY-NC", "not for commercial use")
