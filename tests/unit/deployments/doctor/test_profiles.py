"""Profiles: every shipped one fits its dialect, and the command line puts it over the configuration."""

import json

import pytest
from click.testing import CliRunner

from deployments.cli import cli
from deployments.cli.serve import command as serve_command
from deployments.config import AppArgs, load_config
from deployments.wiring.parts import make_dialect
from tts.dialects import DIALECTS
from tts.dialects.settings import DialectSettings
from tts.errors import ConfigError
from tts.profiles import load_profile, profile_names


def test_every_dialect_has_a_profile():
    assert {load_profile(name).dialect for name in profile_names()} == set(DIALECTS)


@pytest.mark.parametrize("name", profile_names())
def test_a_profile_says_what_its_dialect_does(name):
    profile = load_profile(name)
    settings = profile.dialect_settings
    made = DIALECTS[profile.dialect].with_settings(settings)
    # what the profile adds to the dialect of that behaviour must be what the dialect does anyway
    kept = settings.model_dump(include={"behaviour", "released_path", "tool_set"})
    dialect = DIALECTS[profile.dialect].with_settings(DialectSettings(**kept))
    if dialect.published:
        assert profile.limits == made.limits, "limits of the plan must not tighten the model's own"
    for rollout_id in (0, 1):
        drawn = [d.sampling(rollout_id=rollout_id, n=2, seed=1, turn=0, max_tokens=99) for d in (dialect, made)]
        assert drawn[0] == drawn[1]
    assert profile.licence


def test_a_profile_overrides_the_file_and_is_overridden_by_options(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("engine: { name: clues, temperature: 0.2 }\ngateway: { port: 9000 }\nlimits: { max_turns: 3 }\n")
    tree = load_profile("reverse").tree(model="m", endpoint="http://here:1/v1")
    args = load_config(path, {"limits": {"max_turns": 5}}, profile=tree)
    assert (args.engine.name, args.engine.base_url, args.engine.model) == ("openai", "http://here:1/v1", "m")
    assert (args.dialect, args.gateway.port, args.limits.max_turns, args.limits.max_tokens) == (
        "reverse",
        9000,
        5,
        360448,
    )
    assert args.dialect_settings.coords == "thousand"


LOOPS = [
    ("thinking_with_map", {"released_path": "demo"}, (20, 256, 32768)),
    ("thinking_with_map", {"released_path": "verl"}, (8, 8, 4096)),
    ("reverse", {"released_path": "rl"}, (20, 20, 8192)),
    ("reverse", {"behaviour": "served"}, (10, 13, 16384)),
    ("geoagent", {"behaviour": "served"}, (2, 0, 4096)),
]


def with_loop(name, path=None, **chosen):
    tree = load_profile(name).tree(model="m", endpoint="http://here:1/v1")
    return load_config(path, {"dialect_settings": chosen}, profile=tree)


@pytest.mark.parametrize(("name", "chosen", "limits"), LOOPS)
def test_a_profile_with_another_loop_has_the_limits_of_that_loop(name, chosen, limits):
    args = with_loop(name, **chosen)
    assert (args.limits.max_turns, args.limits.max_tool_calls, args.limits.max_tokens) == limits
    assert args.limits == make_dialect(name, args).limits


def test_the_loop_may_be_chosen_in_the_file(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("dialect_settings: { released_path: demo }\n")
    assert with_loop("thinking_with_map", path).limits.max_turns == 20


def test_limits_that_the_user_sets_stand_with_every_loop():
    over = {"dialect_settings": {"released_path": "demo"}, "limits": {"max_turns": 5}}
    tree = load_profile("thinking_with_map").tree(model="m", endpoint="http://here:1/v1")
    limits = load_config(None, over, profile=tree).limits
    assert (limits.max_turns, limits.max_tool_calls) == (5, 256)


def test_an_unknown_loop_is_refused_by_its_name():
    args = with_loop("reverse", released_path="demo")
    with pytest.raises(ConfigError, match="no released_path 'demo'"):
        make_dialect("reverse", args)


def show_config(*arguments):
    return CliRunner().invoke(cli, ["config", "show", *arguments], standalone_mode=False)


def test_the_command_line_takes_a_profile_or_just_an_endpoint():
    assert "dialect: geoagent" in show_config("--profile", "geoagent", "--endpoint", "http://here:1/v1").output
    assert "dialect: generic" in show_config("--endpoint", "http://here:1/v1").output
    assert "needs --profile or --endpoint" in str(show_config("--model", "x").exception)
    assert "give --model PATH_OR_NAME" in str(show_config("--profile", "reverse").exception)
    assert isinstance(show_config("--profile", "nobody", "--endpoint", "http://here:1/v1").exception, ConfigError)
    assert {option.name for option in serve_command.params} >= {"profile", "model", "endpoint"}


def test_a_wrong_profile_is_explained(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "profile_version: 1\nsummary: x\nlicence: y\ndialect: generic\ntools: native\nlimits: {max_turns: 0}\n"
    )
    with pytest.raises(ConfigError, match=r"limits\.max_turns"):
        load_profile(str(path))


def test_without_an_endpoint_the_model_runs_in_this_process():
    tree = load_profile("thinking_with_map").tree(model="", endpoint="")
    assert tree["engine"]["name"] == "vllm"
    assert tree["engine"]["model"] == "GD-ML/Thinking-with-Map-30B-A3B"
    assert "--max-model-len 15000" in load_profile("thinking_with_map").serve_command()


@pytest.mark.parametrize("name", profile_names())
def test_the_command_that_serves_a_profile_with_vllm_repeats_no_option(name):
    options = [word for word in load_profile(name).serve_command().split() if word.startswith("--")]
    assert len(options) == len(set(options))
    assert "--port" in options


def test_the_doctor_explains_a_profile(data_store):
    from deployments.doctor.installation import endpoint_finding
    from deployments.doctor.profile import explain
    from deployments.endpoints.roles import endpoints_of

    profile = load_profile("geoagent")
    args = AppArgs.model_validate(profile.tree(model="", endpoint="http://127.0.0.1:9/v1"))
    findings = {finding.what: finding for finding in explain("geoagent", profile, args)}
    assert findings["licence of the weights"].detail == "CC BY-NC"
    assert findings["limits"].detail.startswith("1 turns, 0 tool calls")
    assert "vllm serve ghost233lism/GeoAgent" in findings["an endpoint of your own"].mend
    assert findings["sampling in a fan-out"].detail.startswith("temperature 0.7")  # as its training drew them
    (endpoint,) = endpoints_of(args)
    assert endpoint_finding(endpoint).state == "problem"
    reverse = load_profile("reverse")
    args = AppArgs.model_validate(reverse.tree(model="", endpoint="http://127.0.0.1:9/v1"))
    tools = next(finding for finding in explain("reverse", reverse, args) if finding.what == "tools")
    assert (tools.state, "image_search_tool" in tools.cost) == ("missing", True)
    assert json.loads(args.model_dump_json())["dialect"] == "reverse"
