from pathlib import Path

import yaml
from click.testing import CliRunner

from deployments.cli.config import command as config_command
from deployments.config import AppArgs, load_config


def test_config_show_prints_yaml(capsys):
    config_command.main(["show", "--set", "limits.max_turns=3"], standalone_mode=False)
    assert yaml.safe_load(capsys.readouterr().out)["limits"]["max_turns"] == 3


def test_a_shipped_configuration_is_named_without_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(config_command, ["show", "--config", "local"])
    assert yaml.safe_load(shown.output)["deployments"]["rollout"]["replicas"] == 2
    path = CliRunner().invoke(config_command, ["path", "local"]).output.strip()
    assert load_config(Path(path)) == AppArgs.model_validate(yaml.safe_load(shown.output))


def test_a_manifest_is_found_by_its_name_and_each_file_is_listed():
    path = CliRunner().invoke(config_command, ["path", "kubernetes/redis"]).output.strip()
    assert yaml.safe_load(Path(path).read_text().partition("---")[0])["kind"] == "Deployment"
    listed = dict(line.split(None, 1) for line in CliRunner().invoke(config_command, ["path"]).output.splitlines())
    assert {"local", "kuberay", "monitoring/alerts", "grafana"} <= set(listed)
    assert all(Path(file).is_file() for file in listed.values())


def test_a_missing_file_is_reported_with_the_names_that_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = CliRunner().invoke(config_command, ["show", "--config", "nowhere.yaml"])
    assert refused.exit_code == 2
    assert "cluster, kuberay, local" in refused.output
