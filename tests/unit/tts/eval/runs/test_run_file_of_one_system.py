"""A run file holds one system's answers, also where a service is changed while it is asked."""

from contextlib import AsyncExitStack

import pytest
from support.service import PHOTO, an_app, serving

from tts.api.client import Client
from tts.config import ScriptedEngine
from tts.dialects.settings import DialectSettings
from tts.domain.geo import LatLon
from tts.domain.request import LocateOptions
from tts.eval.runs.journal import Journal
from tts.eval.runs.one_system import OneSystem
from tts.eval.runs.runner import RunSetup, progress_of, run_samples
from tts.eval.runs.solvers import RemoteSolver
from tts.eval.sample import Sample, Truth, sample_id

SETUP = RunSetup("made", LocateOptions(n_parallel=1, seed=1))
TRUTH = Truth(point=LatLon(lat=53.5, lon=10.0), country="Germany")
SAMPLES = [Sample(sample_id("made", str(i), 0), lambda: PHOTO, TRUTH, (), str(i)) for i in range(3)]


@pytest.fixture
async def services(data_store, tmp_path):
    """A solver for the service as it was, and one for the service with another prompt."""
    async with AsyncExitStack() as stack:
        solvers = []
        for i, prompt in enumerate(("Where is this? {tools}", "Where is this, exactly? {tools}")):
            file = tmp_path / f"{i}.txt"
            file.write_text(prompt)
            args = an_app(ScriptedEngine(turns=1, turn_s=0.01 + i / 1000))
            args = args.model_copy(update={"dialect_settings": DialectSettings(prompt_file=file)})
            url, _ = await stack.enter_async_context(serving(args))
            solvers.append(RemoteSolver(await stack.enter_async_context(Client(url))))
        yield solvers


async def run_all(path, todo, solve):
    with Journal(path) as journal:
        return [record async for record in run_samples(todo, solve, journal, SETUP, concurrency=1)]


async def test_answers_with_another_prompt_are_no_answers_of_this_run(services, tmp_path):
    before, after = services
    path, asked = tmp_path / "r.jsonl", []

    async def changed_in_between(request_id, photo, options):
        asked.append(request_id)
        return await (before if len(asked) == 1 else after)(request_id, photo, options)

    records = await run_all(path, SAMPLES, OneSystem(changed_in_between))
    another = "the service answers with another prompt than before: record into another file (--out)"
    assert [record.failure for record in records] == ["", another, another]
    assert len(asked) == 2, "it is not asked on"

    known = progress_of(path, SETUP)
    again = [sample for sample in SAMPLES if sample.id in known.failed]
    refused = await run_all(path, again, OneSystem(after, known.answered_by))
    assert [record.answer for record in refused] == [None, None]
    answered = await run_all(path, again, OneSystem(before, known.answered_by))
    assert [record.failure for record in answered] == ["", ""]
