"""Passwords in URLs of the configuration are refused, and no error and no command shows a secret."""

import pytest
import yaml
from click.testing import CliRunner
from pydantic import ValidationError

from deployments.cli.config import command as config_command
from deployments.config import AppArgs, load_config
from deployments.doctor.installation import check_installation
from tts.config import OpenAIEngine
from tts.errors import ConfigError

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
