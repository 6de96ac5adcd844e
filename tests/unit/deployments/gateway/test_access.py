"""Who may use the service, how much, and from where."""

import asyncio
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from starlette.datastructures import Headers
from support.geotts_process import geotts
from support.service import PHOTO, an_app, serving, talking_to

from deployments.cli import serve
from deployments.cli.keys import command as keys_command
from deployments.config import AccessConfig, AppArgs, GatewayConfig, load_config
from deployments.config.loopback import is_loopback
from deployments.gateway.auth import Keyring, fingerprint
from tts.config import ScriptedEngine
from tts.errors import ConfigError

FORM = {"files": {"image": PHOTO}, "data": {"n_parallel": "1"}}
DESK = "gt_desk"
PRESS = "gt_press"


@pytest.fixture
def keys(tmp_path):
    path = tmp_path / "keys"
    path.write_text(f"# who  key\ndesk {fingerprint(DESK)} 1 1\n\npress {fingerprint(PRESS)}\n")
    return AccessConfig(mode="keys", keys_file=str(path), burst=3)


def bearer_header(key):
    return {"Authorization": f"Bearer {key}"}


async def test_requests_without_a_key_are_refused_except_for_health_and_readiness(data_store, keys):
    async with talking_to(an_app(access=keys)) as http:
        for path in ("/metrics", "/v1/models", "/locate/loc_" + "0" * 20):
            reply = await http.get(path)
            assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
        for wrong in ({}, bearer_header("nope"), {"Authorization": "Basic x"}, {"X-Api-Key": DESK + " " * 3 + "x"}):
            assert (await http.post("/locate", **FORM, headers=wrong)).status_code == 401
        assert (await http.get("/healthz")).status_code == 200
        assert (await http.get("/readyz")).status_code == 200
        assert (await http.post("/locate", **FORM, headers={"X-Api-Key": PRESS})).status_code == 200


@pytest.mark.parametrize(
    ("key", "message"), [({}, "send an API key"), ({"GEOTTS_API_KEY": "wrong"}, "this API key is unknown")]
)
@pytest.mark.slow
async def test_the_command_line_says_how_to_give_a_key(data_store, keys, tmp_path, key, message):
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(PHOTO)
    async with serving(an_app(access=keys)) as (url, _):
        code, _, err = await geotts("locate", str(photo), "--url", url, **key)
        assert code == 1
        assert message in err
        assert "--api-key, or better in GEOTTS_API_KEY" in err
        assert (await geotts("locate", str(photo), "--url", url, "-n", "1", GEOTTS_API_KEY=PRESS))[0] == 0


async def test_requests_belong_to_their_key(data_store, keys):
    async with talking_to(an_app(access=keys)) as http:
        where = (
            await http.post("/locate", **FORM, headers={**bearer_header(PRESS), "Prefer": "respond-async"})
        ).headers["location"]
        assert (await http.get(where, headers=bearer_header(DESK))).status_code == 404
        assert (await http.delete(f"{where}?erase=true", headers=bearer_header(DESK))).status_code == 404
        assert (await http.get(where, headers=bearer_header(PRESS))).status_code == 200


async def test_a_key_above_its_rate_is_refused_with_429(data_store, keys):
    async with talking_to(an_app(access=keys), authorization=f"Bearer {DESK}") as http:
        replies = [await http.post("/locate", files={"image": b"nonsense"}) for _ in range(4)]
        assert [reply.status_code for reply in replies] == [415, 415, 415, 429]
        assert replies[-1].json()["type"] == "urn:geotts:problem:too-many-requests"
        assert 1 <= int(replies[-1].headers["retry-after"]) <= 60
        assert (await http.post("/locate", **FORM, headers=bearer_header(PRESS))).status_code == 200


async def test_a_key_may_have_only_so_many_requests_at_once(data_store, keys):
    slow = ScriptedEngine(turns=1, turn_s=30)
    async with talking_to(an_app(slow, access=keys), authorization=f"Bearer {DESK}", prefer="respond-async") as http:
        first = await http.post("/locate", **FORM)
        second = await http.post("/locate", **FORM)
        assert (first.status_code, second.status_code) == (202, 429)
        await http.delete(first.headers["location"])
        assert (await http.post("/locate", **FORM)).status_code == 202


async def test_requests_above_max_in_flight_are_refused_with_503(data_store):
    async with talking_to(an_app(max_in_flight=2)) as http:
        replies = await asyncio.gather(*(http.post("/locate", **FORM) for _ in range(6)))
        refused = [reply for reply in replies if reply.status_code == 503]
        assert refused
        assert all(int(reply.headers["retry-after"]) >= 1 for reply in refused)
        assert (await http.post("/locate", **FORM)).status_code == 200


async def test_a_body_has_a_limit_however_many_photos(data_store):
    async with talking_to(an_app(max_body_bytes=len(PHOTO) + 2000)) as http:
        assert (await http.post("/locate", **FORM)).status_code == 200
        assert (await http.post("/locate", files=[("image", PHOTO)] * 2)).status_code == 413


async def test_pages_of_other_sites_are_refused(data_store):
    async with talking_to(an_app()) as http:
        for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example:8000"}, {"Origin": "null"}):
            assert (await http.post("/locate", **FORM, headers=headers)).status_code == 403
        assert (await http.post("/locate", **FORM, headers={"Origin": "http://localhost"})).status_code == 200


HERE = ["localhost.:8311", "LOCALHOST.", "127.0.0.2:8311", "127.255.0.1", "[::1]:8311", "photos.localhost:8311"]
ELSEWHERE = [
    "127.0.0.1.evil.example",
    "localhost.evil.example:8311",
    "evil.example.",
    "8.8.8.8",
    "127.0.0.1.nip.io:8311",
]


@pytest.mark.parametrize("host", HERE)
async def test_every_name_of_this_machine_is_answered(data_store, host):
    async with talking_to(an_app()) as http:
        assert (await http.get("/v1/models", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize("host", ELSEWHERE)
async def test_names_that_only_look_like_this_machine_are_refused(data_store, host):
    async with talking_to(an_app()) as http:
        assert (await http.get("/v1/models", headers={"Host": host})).status_code == 403


async def test_named_origins_may_call(data_store):
    page = "https://desk.example"
    async with talking_to(an_app(cors_origins=(page,))) as http:
        ask = {"Origin": page, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "Prefer"}
        preflight = await http.options("/locate", headers=ask)
        assert preflight.headers["access-control-allow-origin"] == page
        reply = await http.post("/locate", **FORM, headers={"Origin": page})
        assert reply.status_code == 200
        assert "X-Request-Id" in reply.headers["access-control-expose-headers"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs a key"),
        ("desk secret", "expected `name sha256"),
        ("desk", "expected `name sha256"),
        (f"desk {fingerprint('a')} many", "must be numbers"),
        (f"desk {fingerprint('a')} 0", "key 1: its requests a minute must be a finite number above 0"),
        (f"desk {fingerprint('a')} -5", "finite number above 0"),
        (f"desk {fingerprint('a')} nan", "finite number above 0"),
        (f"desk {fingerprint('a')} inf", "finite number above 0"),
        (f"\ndesk {fingerprint('a')} 60 0", "key 2: its requests at the same time must be at least 1"),
        (f"desk {fingerprint('a')} 60 -1", "at least 1"),
        (f"de\x1bsk {fingerprint('a')}", "control characters"),
        (f"desk {fingerprint('a')}\ndesk {fingerprint('b')}", "same name"),
    ],
)
def test_wrong_keys_are_an_error_at_the_start(tmp_path, text, message):
    path = tmp_path / "keys"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        Keyring(GatewayConfig(access=AccessConfig(mode="keys", keys_file=str(path))))


def test_a_new_key_is_shown_once_and_its_line_in_the_keys_file_is_valid(monkeypatch):
    made = CliRunner().invoke(keys_command, ["new", "desk", "--per-minute", "5"])
    key = next(word for word in made.stderr.split() if word.startswith("gt_"))
    assert key not in made.stdout
    monkeypatch.setenv("GEOTTS_API_KEYS", made.stdout.strip())
    ring = Keyring(GatewayConfig(access=AccessConfig(mode="keys")))
    assert ring.caller(Headers(bearer_header(key))).requests_per_minute == 5


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"gateway": {"host": "0.0.0.0"}}, "can be reached from other machines"),
        ({"deployments": {"gateway": {"replicas": 2}}}, "cannot share a run store in memory"),
        ({"deployments": {"gateway": {"replicas": 2}}, "gateway": {"run_store": "sqlite:///x"}}, "in sqlite"),
        ({"gateway": {"run_store": "redis://:hunter2@host/0"}}, "GEOTTS_REDIS_PASSWORD"),
    ],
)
def test_unsafe_combinations_of_settings_are_refused_at_the_start(tree, message):
    with pytest.raises(ConfigError, match=message) as refused:
        load_config(None, tree)
    assert "hunter2" not in refused.value.detail


def test_several_gateways_with_a_shared_run_store_are_accepted_at_the_start():
    several = {"deployments": {"gateway": {"replicas": 2}}, "gateway": {"run_store": "redis://host:6379/0"}}
    assert load_config(None, several).deployments.gateway.replicas == 2
    assert is_loopback(AppArgs().gateway.host)


async def test_a_key_has_a_limit_of_money_for_a_request_and_for_a_day(data_store, tmp_path):
    path = tmp_path / "keys"
    path.write_text(f"desk {fingerprint(DESK)} cost=0.25 cost/day=1\n")
    access = AccessConfig(mode="keys", keys_file=str(path))
    async with talking_to(an_app(access=access), authorization=f"Bearer {DESK}") as http:
        replies = [await http.post("/locate", **FORM) for _ in range(3)]
        assert [reply.status_code for reply in replies] == [200, 200, 429]
        assert "this key has spent its money for the day" in replies[-1].json()["detail"]
        assert int(replies[-1].headers["retry-after"]) > 3600
        dear = {**FORM, "data": {"n_parallel": "1", "max_cost_usd": "100"}}
        plan = replies[0].json()["answer"]["route"]["plan"]
        assert plan["limits"]["max_cost_usd"] == 0.25
        assert (await http.post("/locate", **dear)).status_code == 429


@pytest.mark.parametrize("words", ["cost=0", "cost=x", "price=1", "cost/day=1", "cost=1 cost/day=1.5", "cost=inf"])
def test_an_invalid_money_limit_of_a_key_is_refused_at_the_start(tmp_path, words):
    path = tmp_path / "keys"
    path.write_text(f"desk {fingerprint(DESK)} {words}\n")
    with pytest.raises(ConfigError, match="key 1"):
        Keyring(GatewayConfig(access=AccessConfig(mode="keys", keys_file=str(path))))


def test_a_new_key_with_money_limits_is_read_with_these_limits(tmp_path):
    made = CliRunner().invoke(
        keys_command, ["new", "desk", "--cost", "0.5", "--cost-per-day", "20", "--concurrent", "2"]
    )
    line = made.stdout.strip().splitlines()[-1]
    assert line.split()[2:] == ["cost=0.5", "cost/day=20", "-", "2"]
    path = tmp_path / "keys"
    path.write_text(line)
    keyring = Keyring(GatewayConfig(access=AccessConfig(mode="keys", keys_file=str(path))))
    (caller,) = keyring._keys.values()
    assert (caller.max_cost_usd, caller.requests_per_day, caller.max_concurrent) == (0.5, 40, 2)


@pytest.mark.parametrize(("with_keys", "header"), [(True, '-H "Authorization: Bearer $GEOTTS_API_KEY" '), (False, "")])
def test_the_command_that_serve_shows_has_the_key_that_is_needed(capsys, with_keys, header):
    serve._print_ready(SimpleNamespace(url="http://127.0.0.1:8000", ready_s=1.0), with_keys=with_keys)
    assert f"  curl -N {header}-F image=@photo.jpg" in capsys.readouterr().err
