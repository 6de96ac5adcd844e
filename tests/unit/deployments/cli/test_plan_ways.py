"""`geotts plan` and `geotts locate --budget` as a person runs them: what the tables allow is planned, and is done."""

import json

import pytest
from click.testing import CliRunner
from support.basics import sign_bytes

from deployments.cli import cli, main
from tts.domain.stop_table import Band
from tts.routing.budget_table import Amount, BudgetRow, BudgetTable, RightShare

BUDGETS = ("60s", "20k-tokens", "0.05usd")
ENDPOINT = (
    "--endpoint",
    "http://127.0.0.1:9/v1",
    "--model",
    "some-model",
    "--set",
    "engine.price={input: 1, output: 4}",
)
RELEASED = ("--set", "dialect=geovista", "--set", "dialect_settings.behaviour=released")
CANNOT_ASK = ("--set", "verifier.kind=model", "--set", "verifier.mode=trajectories")


def plan(*arguments):
    done = CliRunner().invoke(cli, ["plan", *arguments], standalone_mode=False)
    assert done.exception is None, done.exception
    return done.stdout


def choice_for(budget, *arguments):
    return json.loads(plan("--budget", budget, "--json", *arguments))


def row(n, right, tokens, **more):
    share = RightShare(value=right, low=right - 5, high=right + 5)
    return BudgetRow(
        n=n, photos=100, right=dict.fromkeys(Band, share), tokens=Amount(mean=tokens, p90=tokens),
        prompt_tokens=Amount(mean=2 * tokens, p90=2 * tokens), seconds=Amount(mean=1, p90=2), **{"turns": 8, **more},
    )  # fmt: skip


def written_table(folder, *rows, engine="clues"):
    path = folder / "table.yaml"
    BudgetTable(origin="made up", engine=engine, rows=rows).write(path)
    return "--set", f"routing.budget_table={path}"


@pytest.mark.parametrize("budget", BUDGETS)
def test_each_kind_of_budget_is_planned_for_the_embedded_engine(budget):
    choice = choice_for(budget)
    assert (choice["fits"], choice["transferred"]) == (True, False)
    assert choice["cost"]["seconds"]["p90"] < 60
    assert choice["cost"]["tokens"]["p90"] < 20_000


@pytest.mark.parametrize("budget", BUDGETS)
def test_each_kind_of_budget_is_planned_for_an_endpoint_without_recorded_runs(budget):
    choice = choice_for(budget, *ENDPOINT)
    assert (choice["fits"], choice["transferred"]) == (True, True)
    assert choice["cost"]["seconds"] is None
    if budget == "0.05usd":
        assert choice["cost"]["money_usd"]["p90"] <= 0.05
    if budget == "20k-tokens":
        assert choice["cost"]["tokens"]["p90"] <= 20_000


def test_an_endpoint_without_recorded_runs_gets_questions_only_of_a_verifier_that_can_ask():
    assert choice_for("20k-tokens", *ENDPOINT)["row"]["questions"] == 4
    assert choice_for("20k-tokens", *ENDPOINT, "--set", "verifier.max_questions=3")["row"]["questions"] == 0
    large = choice_for("500k-tokens", *ENDPOINT, *CANNOT_ASK)["row"]
    assert (large["questions"], large["stop"]) == (0, "none")


def test_an_endpoint_without_recorded_runs_gets_draws_and_stops_with_a_large_budget():
    rows = [choice_for(budget, *ENDPOINT)["row"] for budget in ("40k-tokens", "500k-tokens")]
    assert [row["answer_draws"] > 1 for row in rows] == [True, False]
    assert [row["stop"] for row in rows] == ["loss:1.0", "loss:1.0"]
    assert [row["questions"] for row in rows] == [4, 4]


def test_a_released_dialect_gets_no_draws(tmp_path):
    own = written_table(tmp_path, row(2, 50, 1000), row(2, 70, 1500, answer_draws=4))
    assert choice_for("20k-tokens", *own)["row"]["answer_draws"] == 4
    assert choice_for("20k-tokens", *own, "--set", "limits.answer_draws=1")["row"]["answer_draws"] == 1
    assert choice_for("20k-tokens", *own, *RELEASED)["row"]["answer_draws"] == 1


def test_draws_questions_and_stops_are_planned_in_words(tmp_path):
    everything = row(8, 70, 1500, answer_draws=4, questions=4, stop="loss:1.0", tool_calls=Amount(mean=44, p90=60))
    shown = plan("--budget", "20k-tokens", *written_table(tmp_path, row(2, 50, 1000), everything))
    assert "4 answers drawn of each, 4 questions of the verifier; stop loss:1.0" in shown
    assert "calls   44 tool calls on average; nine of ten requests take at most 60" in shown


@pytest.mark.slow
def test_a_photo_with_a_budget_gets_the_rollouts_the_draws_and_the_stop_of_the_row(tmp_path, monkeypatch, data_store):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sign.jpg").write_bytes(sign_bytes("Rue de Rivoli"))
    engine = (
        "--set",
        "engine={name: scripted, turns: 2, tokens_per_turn: 4, turn_s: 0.4, prefix_cache: true}",
        "--set",
        "routing.method=fixed",
    )
    own = written_table(tmp_path, row(4, 50, 1000, answer_draws=3, stop="first:1"), engine="scripted")
    done = CliRunner().invoke(
        cli, ["locate", "sign.jpg", "--budget", "20k-tokens", "--json", "--include", "full", *engine, *own],
        standalone_mode=False,
    )  # fmt: skip
    reply = json.loads(done.stdout)
    plan = reply["answer"]["route"]["plan"]
    assert (plan["n_planned"], plan["limits"]["answer_draws"]) == (4, 3)
    assert "(3 answers drawn of each attempt, stop first:1)" in plan["summary"]
    answered = [one for one in reply["trajectories"] if one["stop_reason"] == "answered"]
    assert all(len(one["answer_draws"]) == 2 for one in answered)
    assert 1 <= len(answered) < 4
    assert reply["answer"]["budget"]["tokens"] <= 20_000


def test_a_verifier_that_reads_trajectories_gets_no_draws():
    row = choice_for("40k-tokens", *ENDPOINT, *CANNOT_ASK)["row"]
    assert (row["answer_draws"], row["questions"], row["stop"]) == (1, 0, "none")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--policy", "1", "--runs", "a.jsonl"], "either to --runs or to --policy"),
        (["--out", "table.yaml"], "give --runs or --policy too"),
        (["--origin", "mine"], "give them too"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(given, words):
    result = CliRunner().invoke(cli, ["plan", *given])
    assert result.exit_code == 2
    assert words in result.output


@pytest.mark.parametrize("option", [["--plot"], ["--policy", "1", "--out"]])
def test_a_file_that_cannot_be_written_is_named_in_one_line(option, monkeypatch, capsys, tmp_path):
    file = tmp_path / "no such folder" / "file"
    monkeypatch.setattr("sys.argv", ["geotts", "plan", *option, str(file)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert f"{file}: No such file or directory" in capsys.readouterr().err.replace("\n", "")


@pytest.mark.parametrize(("limits", "draws"), [({}, True), ({"answer_draws": 1}, False)])
def test_a_mixture_gets_draws_only_if_the_limits_of_each_member_allow_them(limits, draws, tmp_path):
    engine = {"name": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m", "price": {"input": 1, "output": 4}}
    engines = [{"name": "one", "engine": engine}, {"name": "other", "engine": engine, "limits": limits}]
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps({"engines": engines}))
    assert (choice_for("40k-tokens", "--config", str(config))["row"]["answer_draws"] > 1) == draws
