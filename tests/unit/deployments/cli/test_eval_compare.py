"""`geotts eval compare` says which kind of N each run has."""

import orjson
from click.testing import CliRunner
from support.recorded_answers import a_run, record

from deployments.cli import cli
from tts.domain.answer import RolloutStatus, StopReason


def test_compared_runs_say_which_kind_of_n_each_has(tmp_path, data_store):
    def with_sources(sample, *sources):
        rollouts = [
            RolloutStatus(rollout_id=i, stop_reason=StopReason.ANSWERED, answered=True, source=source)
            for i, source in enumerate(sources)
        ]
        made = record(sample, a_run(1.0))
        return made.model_copy(update={"answer": made.answer.model_copy(update={"rollouts": tuple(rollouts)})})

    files = {"alike": ("", ""), "mixed": ("small", "large")}
    for name, sources in files.items():
        (tmp_path / f"{name}.jsonl").write_bytes(with_sources("a", *sources).json_line() + b"\n")
    paths = [str(tmp_path / f"{name}.jsonl") for name in files]
    kinds = ("samples of one policy, 2 a photo", "a mixture of models, 2 a photo")
    shown = CliRunner().invoke(cli, ["eval", "compare", *paths])
    assert shown.exit_code == 0, shown.output
    assert f"Kind of N in alike: {kinds[0]}\nKind of N in mixed: {kinds[1]}\n" in shown.stdout
    found = orjson.loads(CliRunner().invoke(cli, ["eval", "compare", *paths, "--json"]).stdout)
    assert tuple(found["kinds_of_n"]) == kinds
