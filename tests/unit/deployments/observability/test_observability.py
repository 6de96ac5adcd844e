"""What the service says about itself: metrics, the dashboard over them, logs with ids, the audit log."""

import asyncio
import json
import logging
import re
from pathlib import Path

import pytest
from support.service import PHOTO, a_gateway, an_app, ports_of, samples, talking_to

from deployments.config import AppArgs
from deployments.gateway.gateway import Gateway
from deployments.observability.audit import AuditLog
from deployments.observability.metrics import Metrics
from deployments.runstore import RunMeta
from tts.config import ScriptedEngine
from tts.domain.answer import StopReason
from tts.domain.events import Done, RolloutFinished, RolloutResumed, RolloutStarted, ToolResulted, TurnFinished
from tts.domain.request import LocateOptions
from tts.domain.tooling import ToolFailure, ToolResult
from tts.domain.usage import Usage
from tts.errors import ConfigError, ToolErrorKind
from tts.logs import JsonFormatter
from tts.rollout.group_size import Room

DASHBOARD = Path(__file__).parents[4] / "ray_configs" / "grafana.json"
FORM = {"files": {"image": PHOTO}, "data": {"n_parallel": "2"}}


async def test_the_metrics_count_requests_rollouts_tokens_tool_calls_and_times(data_store):
    async with talking_to(an_app()) as http:
        answer = (await http.post("/locate", **FORM)).json()["answer"]
        await http.post("/locate", **FORM, headers={"Accept": "text/event-stream"})
        await http.get("/nowhere")
        seen = samples((await http.get("/metrics")).text)
    assert seen['geotts_requests_total{stop_reason="answered"}'] == 2
    assert seen['geotts_rollouts_total{stop_reason="answered"}'] == 4
    assert seen["geotts_first_event_seconds_count"] == 1
    assert seen["geotts_answer_seconds_count"] == 2
    assert seen['geotts_tokens_total{kind="completion"}'] == 2 * answer["usage"]["completion_tokens"]
    assert seen['geotts_http_requests_total{route="/locate",status="200"}'] == 2
    assert seen['geotts_http_requests_total{route="none",status="404"}'] == 1
    assert seen['geotts_in_flight{state="working"}'] == 0
    calls = {name: count for name, count in seen.items() if name.startswith("geotts_tool_calls_total")}
    assert sum(calls.values()) == 2 * answer["usage"]["tool_calls"]


def test_invented_tool_names_do_not_become_labels():
    metrics = Metrics()
    for i in range(3):
        failure = ToolFailure(kind=ToolErrorKind.UNKNOWN_TOOL, detail="")
        result = ToolResult(call_id="c", name=f"made_up_{i}", text="", failure=failure)
        metrics.on_event(RunMeta(request_id="loc"), ToolResulted(rollout_id=0, turn=0, result=result))
    assert samples(metrics.exposition().decode())['geotts_tool_calls_total{outcome="unknown_tool",tool="unknown"}'] == 3


def metrics_of(events, request_id="loc"):
    metrics = Metrics()
    for event in events:
        metrics.on_event(RunMeta(request_id=request_id), event)
    return samples(metrics.exposition().decode())


def usage_of(prompt, completion):
    return Usage(prompt_tokens=prompt, completion_tokens=completion, gpu_s=completion / 100)


CUT_OFF = [
    RolloutStarted(rollout_id=0),
    RolloutStarted(rollout_id=1),
    TurnFinished(rollout_id=0, turn=0, usage=usage_of(100, 10)),
    TurnFinished(rollout_id=0, turn=1, usage=usage_of(250, 30)),
]


def test_the_metrics_count_the_turns_and_rollouts_of_a_cancelled_request():
    seen = metrics_of([*CUT_OFF, Done(stop_reason=StopReason.CANCELLED)])
    assert seen['geotts_rollouts_total{stop_reason="cancelled"}'] == 2
    assert seen['geotts_tokens_total{kind="prompt"}'] == 250
    assert seen['geotts_tokens_total{kind="completion"}'] == 30
    assert seen["geotts_gpu_seconds_total"] == pytest.approx(0.3)


def test_turns_and_the_end_of_their_rollout_are_not_counted_twice():
    end = RolloutFinished(rollout_id=0, stop_reason=StopReason.ANSWERED, usage=usage_of(260, 35))
    seen = metrics_of([*CUT_OFF, end, Done(stop_reason=StopReason.DEADLINE)])
    assert seen['geotts_rollouts_total{stop_reason="answered"}'] == 1
    assert seen['geotts_rollouts_total{stop_reason="deadline"}'] == 1
    assert seen['geotts_tokens_total{kind="prompt"}'] == 260
    assert seen['geotts_tokens_total{kind="completion"}'] == 35


def test_preempted_tokens_are_counted_beside_the_other_tokens():
    used = usage_of(260, 35).model_copy(update={"preempted_tokens": 180})
    seen = metrics_of([*CUT_OFF, RolloutFinished(rollout_id=0, stop_reason=StopReason.ANSWERED, usage=used)])
    assert seen['geotts_tokens_total{kind="preempted"}'] == 180


def test_the_room_of_engines_is_shown_by_replica():
    metrics = Metrics()
    metrics.rooms.rooms = lambda: {"a": Room(tokens=4096, slots=7), "b": Room(slots=3)}
    seen = samples(metrics.exposition().decode())
    assert seen['geotts_engine_free_kv_tokens{replica="a"}'] == 4096
    assert [seen[f'geotts_engine_free_slots{{replica="{name}"}}'] for name in "ab"] == [7, 3]


def test_token_counts_never_decrease_when_a_rollout_resumes_from_an_earlier_turn():
    again = [
        RolloutResumed(rollout_id=0, from_turn=0),
        TurnFinished(rollout_id=0, turn=1, usage=usage_of(240, 20)),
        RolloutFinished(rollout_id=0, stop_reason=StopReason.ANSWERED, usage=usage_of(300, 50)),
    ]
    assert metrics_of([*CUT_OFF, *again])['geotts_tokens_total{kind="completion"}'] == 50


@pytest.mark.parametrize("leave", [lambda m, meta: m.on_end(meta, 1.0, Usage()), lambda m, meta: m.on_erased(meta)])
def test_the_metrics_forget_a_request_that_ended_or_was_erased(leave):
    metrics, meta = Metrics(), RunMeta(request_id="loc")
    for event in CUT_OFF:
        metrics.on_event(meta, event)
    leave(metrics, meta)
    metrics.on_event(meta, Done(stop_reason=StopReason.CANCELLED))
    assert 'geotts_rollouts_total{stop_reason="cancelled"}' not in samples(metrics.exposition().decode())


async def test_a_request_that_its_client_cancels_is_in_the_figures(data_store):
    args = an_app(ScriptedEngine(turns=50, tokens_per_turn=8, turn_s=0.02))
    gateway, metrics = a_gateway(args)
    started = await gateway.start([PHOTO], LocateOptions(n_parallel=2), attended=False)
    async with asyncio.timeout(20):
        while 'geotts_tokens_total{kind="completion"} 0.0' in metrics.exposition().decode():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await gateway.cancel(started.request_id)
    seen = samples(metrics.exposition().decode())
    await gateway.aclose()
    assert seen['geotts_rollouts_total{stop_reason="cancelled"}'] == 2
    assert seen['geotts_tokens_total{kind="completion"}'] > 0


def test_the_dashboard_asks_for_metrics_that_exist():
    exposition = Metrics().exposition().decode()
    kinds = dict(line.split()[2:4] for line in exposition.splitlines() if line.startswith("# TYPE"))
    there = set(kinds)
    there |= {f"{name}_bucket" for name, kind in kinds.items() if kind == "histogram"}
    panels = json.loads(DASHBOARD.read_text())["panels"]
    asked = {
        name
        for panel in panels
        for t in panel["targets"]
        for name in re.findall(r"\b(?:geotts|process)_\w+", t["expr"])
    }
    assert asked <= there
    ours = {name for name in kinds if name.startswith("geotts_") and not name.endswith("_created")}
    assert ours == {name.removesuffix("_bucket") for name in asked if name.startswith("geotts_")}
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_log_lines_are_json_with_ids():
    record = logging.LogRecord("geotts.access", logging.INFO, __file__, 1, "GET %s", ("/x",), None)
    record.request_id = "loc_1"
    line = json.loads(JsonFormatter("gateway").format(record))
    assert {"at", "level", "logger", "service", "message", "request_id"} <= set(line)
    assert (line["message"], line["request_id"], line["service"]) == ("GET /x", "loc_1", "gateway")


async def test_the_audit_log_records_start_end_and_erasure_and_no_content(data_store, tmp_path):
    path = tmp_path / "audit.jsonl"
    args = an_app()
    audit = AuditLog(path, args)
    gateway = Gateway(args, ports_of(AppArgs(engine=args.engine, routing=args.routing)), observers=[audit])
    started = await gateway.start([PHOTO], LocateOptions(n_parallel=1, hint="a secret hint"), attended=False)
    await gateway.result(started.request_id)
    await gateway.erase(started.request_id)
    await gateway.aclose()
    audit.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["event"] for line in lines] == ["accepted", "ended", "erased"]
    assert {line["request_id"] for line in lines} == {started.request_id}
    assert len(lines[0]["photos"][0]) == 64
    assert "secret" not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0


def test_an_audit_log_that_cannot_be_written_is_an_error_at_the_start(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="audit_log"):
        AuditLog(tmp_path / "file" / "audit.jsonl", AppArgs())
