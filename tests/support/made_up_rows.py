"""Rows of the project's own, compared by `geotts bench conformance`."""

import json

from click.testing import CliRunner

from geotts_benchmarks.cli import command


def differing_rows(corpus, system, file, rows, declared=0):
    """Which rows of a system differ and why, as the command says it of a corpus with these rows alone."""
    folder = corpus / system
    folder.mkdir()
    (folder / f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = CliRunner().invoke(command, ["conformance", "--corpus", str(corpus), "--show"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout.splitlines()[-1])["by_system"][system][file]
    assert (found["rows"], found["declared"]) == (len(rows), declared)
    return [line.strip() for line in done.stderr.splitlines() if line.strip().startswith("differ")]
