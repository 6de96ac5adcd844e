"""A profile may name a chat template: for an engine in this process, and for an endpoint of one's own."""

from click.testing import CliRunner

from deployments.cli import cli
from tts.profiles import load_profile


def test_a_profile_with_a_chat_template_of_its_own_runs_in_this_process(tmp_path):
    template = tmp_path / "own.jinja"
    template.write_text("{{ messages }}")
    profile = tmp_path / "own.yaml"
    profile.write_text(
        f"summary: s\nmodel: m\nlicence: MIT\ndialect: generic\ntools: text\nchat_template: {template}\n"
        "limits: { max_turns: 4, max_tool_calls: 4, max_tokens: 4096 }\n"
    )
    done = CliRunner().invoke(cli, ["config", "show", "--profile", str(profile)], standalone_mode=False)
    assert done.exception is None
    assert f"chat_template: {template}" in done.output
    assert f"--chat-template {template}" in load_profile(str(profile)).serve_command()
