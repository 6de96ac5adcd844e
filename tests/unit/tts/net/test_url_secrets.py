"""Secrets in URLs: refused where they are passwords, never shown where they are keys; Redis takes its own elsewhere."""

import pytest
import yaml
from click.testing import CliRunner
from pydantic import ValidationError
from redis import Redis
from support.local_redis import local_redis

from deployments.cli.config import command as config_command
from deployments.config import AppArgs, load_config
from deployments.doctor.installation import check_installation
from deployments.runstore import RunMeta, StoreUnavailable, open_store
from tts.config import OpenAIEngine
from tts.errors import ConfigError
from tts.net.redis_password import run_store_password, tool_cache_password
from tts.net.url_secrets import mask_secrets, secrets_in
from tts.toolkit.broker.cache_entry import Entry
from tts.toolkit.broker.cache_store import StoreError
from tts.toolkit.broker.open_store import open_store as open_cache

URLS = [
    ("redis://:hunter2@host:6379/0", "redis://:***@host:6379/0", ("hunter2",)),
    ("redis://user:hunter2@host/0", "redis://user:***@host/0", ("hunter2",)),
    ("redis://user:a:b@c@host/0", "redis://user:***@host/0", ("a:b@c",)),
    ("redis://host/0?password=hunter2&db=1", "redis://host/0?password=***&db=1", ("hunter2",)),
    ("https://t.example/{z}/{x}.png?key=abc%20d&s=1", "https://t.example/{z}/{x}.png?key=***&s=1", ("abc d",)),
    ("https://t.example/a?x=1&api_key=q", "https://t.example/a?x=1&api_key=***", ("q",)),
    ("https://t.example/a?access_token=q#f", "https://t.example/a?access_token=***#f", ("q",)),
    ("http://host:8000/v1", "http://host:8000/v1", ()),
    ("http://host:8000/@here?zoom=3", "http://host:8000/@here?zoom=3", ()),
    ("redis://user@host/0", "redis://user@host/0", ()),
    ("sqlite:///data/a:b@c.sqlite", "sqlite:///data/a:b@c.sqlite", ()),
    ("monkey=3, not a URL", "monkey=3, not a URL", ()),
]


@pytest.mark.parametrize(("url", "shown", "secrets"), URLS)
def test_secrets_in_urls_are_known_and_masked(url, shown, secrets):
    assert (mask_secrets(url), secrets_in(url)) == (shown, secrets)
    assert mask_secrets(f"a text with {url} and more") == f"a text with {shown} and more"


TREES = {
    "gateway.run_store": ({"gateway": {"run_store": "redis://:hunter2@host/0"}}, "GEOTTS_REDIS_PASSWORD"),
    "tools.cache": ({"tools": {"cache": "rediss://u:hunter2@host/0"}}, "GEOTTS_TOOLS_REDIS_PASSWORD"),
    "engine.base_url": ({"engine": {"name": "openai", "base_url": "http://u:hunter2@h/v1"}}, "environment"),
    "tools.settings.osm.urls.tiles": (
        {"tools": {"settings": {"osm": {"urls": {"tiles": "https://u:hunter2@h/{z}"}}}}},
        "environment",
    ),
    "telemetry.endpoint": ({"telemetry": {"endpoint": "http://h/?password=hunter2"}}, "environment"),
}


@pytest.mark.parametrize("name", TREES)
def test_a_password_in_the_configuration_is_refused_by_the_name_of_its_place(name):
    tree, says = TREES[name]
    with pytest.raises(ConfigError, match=says) as refused:
        load_config(None, tree)
    assert name in refused.value.detail
    assert "hunter2" not in refused.value.detail
    with pytest.raises(ValidationError) as raw:  # as Ray Serve would print it
        AppArgs.model_validate(tree)
    assert "hunter2" not in str(raw.value)


def test_no_wrong_value_is_repeated_in_an_error(tmp_path):
    with pytest.raises(ValidationError) as raw:
        AppArgs.model_validate({"tools": {"serper_api_key": "hunter2", "tape": "hunter2"}})
    assert "tools.tape" in str(raw.value)
    assert "hunter2" not in str(raw.value)
    path = tmp_path / "c.yaml"
    path.write_text("gateway:\n  run_store: redis://:hunter2@h\n cors_origins: [")
    with pytest.raises(ConfigError, match=r"line 3") as unreadable:
        load_config(path)
    assert "hunter2" not in unreadable.value.detail


def test_config_show_and_the_doctor_mask_keys_in_urls(tmp_path, monkeypatch):
    monkeypatch.setenv("GEOTTS_REDIS_PASSWORD", "hunter2")
    monkeypatch.setenv("OPENAI_API_KEY", "hunter2")
    path = tmp_path / "c.yaml"
    tiles = {"osm": {"urls": {"satellite_tiles": "https://t.example/{z}/{x}/{y}.jpg?key=hunter2"}}}
    path.write_text(yaml.safe_dump({"tools": {"cache": "redis://h/0", "settings": tiles}}))
    shown = CliRunner().invoke(config_command, ["show", "--config", str(path)])
    assert "https://t.example/{z}/{x}/{y}.jpg?key=***" in shown.output
    assert "hunter2" not in shown.output
    engine = OpenAIEngine(base_url="http://127.0.0.1:9/v1?token=hunter2", model="m")
    findings = check_installation(AppArgs(engine=engine))
    assert "hunter2" not in str(findings)
    assert [found for found in findings if "127.0.0.1:9" in found.detail]


def test_the_tool_cache_has_the_password_of_the_run_store_unless_it_has_its_own():
    both = {"GEOTTS_REDIS_PASSWORD": "a", "GEOTTS_TOOLS_REDIS_PASSWORD": "b"}
    assert (run_store_password(both), tool_cache_password(both)) == ("a", "b")
    assert tool_cache_password({"GEOTTS_REDIS_PASSWORD": "a"}) == "a"
    assert tool_cache_password({**both, "GEOTTS_TOOLS_REDIS_PASSWORD": ""}) is None
    assert (run_store_password({}), tool_cache_password({})) == (None, None)


async def test_a_redis_with_a_password_works_and_errors_do_not_repeat_a_wrong_password(tmp_path, monkeypatch):
    with local_redis(tmp_path) as url:
        with Redis.from_url(url) as admin:
            admin.config_set("requirepass", "hunter2")
        entry = Entry(stored_at=2e9, ttl_s=60.0, stale_s=0.0, retrieved_at="", refusal=("not_found", "no"))
        for password, works in (("hunter2", True), ("hunter3", False), (None, False)):
            if password is None:
                monkeypatch.delenv("GEOTTS_REDIS_PASSWORD")
            else:
                monkeypatch.setenv("GEOTTS_REDIS_PASSWORD", password)
            cache, runs = open_cache(url), open_store(url, 60.0)
            if works:
                await cache.put("k", entry)
                assert await cache.get("k") is not None
                assert await runs.open(RunMeta(request_id="loc_1"), lease_s=5.0)
            else:
                with pytest.raises(StoreError) as cache_refused:
                    await cache.get("k")
                with pytest.raises(StoreUnavailable) as runs_refused:
                    await runs.ping()
                assert "hunter" not in f"{cache_refused.value.detail} {runs_refused.value.detail}"
            await cache.aclose()
            await runs.aclose()
