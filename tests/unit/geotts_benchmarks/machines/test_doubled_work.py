"""What `geotts bench nodes` and `chaos` count as done twice, on runs of which it is known."""

import json
import time
from datetime import UTC, datetime

import orjson
import pytest

from geotts_benchmarks.machines.clients import ClientRequest
from geotts_benchmarks.machines.doubled_work import DoubledWork, doubled_work
from geotts_benchmarks.machines.engine_journal import read_journal
from geotts_benchmarks.machines.fault_timeline import InjectedFault, explain_case, explained_end

TURNS = ((0, 0, 1.0), (0, 1, 2.0))


def client_request(request_id="loc_a", turns=TURNS, asked=""):
    return ClientRequest(0.0, 3.0, request_id, accepted=0.1, outcome="answered", turns=list(turns), asked=asked)


def journal(tmp_path, *lines):
    file = tmp_path / "journal.jsonl"
    names = ("at", "session", "turn", "hint", "process")
    file.write_text("".join(json.dumps(dict(zip(names, line, strict=False))) + "\n" for line in lines))
    return read_journal(file)


def test_turns_that_began_once_are_not_doubled(tmp_path):
    assert doubled_work([client_request()], journal(tmp_path, (0.2, "loc_a/0", 0), (1.2, "loc_a/0", 1))) == []


def test_a_turn_that_begins_again_before_its_end_was_seen_is_not_doubled(tmp_path):
    started = journal(tmp_path, (0.2, "loc_a/0", 0), (0.9, "loc_a/0", 0), (1.2, "loc_a/0", 1))
    assert doubled_work([client_request()], started) == []


def test_a_turn_that_begins_again_after_its_end_was_seen_is_doubled(tmp_path):
    started = journal(tmp_path, (0.2, "loc_a/0", 0, "", 7), (1.1, "loc_a/0", 0, "", 8), (1.2, "loc_a/0", 1, "", 7))
    assert doubled_work([client_request()], started) == [DoubledWork("begun again", "loc_a", 0, 0, 1.0, 1.1, (7, 8))]


def test_a_turn_that_ends_twice_in_the_log_is_doubled(tmp_path):
    found = doubled_work([client_request(turns=((0, 0, 1.0), (0, 0, 1.5)))], journal(tmp_path))
    assert found == [DoubledWork("ended twice", "loc_a", 0, 0, 1.0, 1.5)]


def test_a_request_that_no_client_knows_is_doubled(tmp_path):
    started = journal(
        tmp_path, (0.2, "loc_a/0", 0, "one"), (0.4, "loc_b/0", 0, "one", 9), (0.5, "loc_b/1", 0, "one", 9)
    )
    assert doubled_work([client_request(asked="one")], started) == [
        DoubledWork("ran beside", "loc_b", -1, -1, 0.2, 0.4, (9,))
    ]


@pytest.mark.parametrize(("requests", "doubled"), [(["loc_a"], []), (["loc_a", "loc_b"], ["loc_b"])])
def test_a_client_that_gave_up_without_an_id_has_one_request_all_the_same(tmp_path, requests, doubled):
    """Its reply never came: what it asked for was begun, which is no second time; a second request is."""
    gave_up = ClientRequest(0.0, 3.0, outcome="declared", asked="one")
    started = journal(tmp_path, *((i, f"{name}/0", 0, "one") for i, name in enumerate(requests)))
    assert [one.request_id for one in doubled_work([gave_up], started)] == doubled


def test_a_request_that_nobody_asked_for_is_doubled(tmp_path):
    started = journal(tmp_path, (0.2, "loc_c/0", 0, "of nobody"))
    assert [one.request_id for one in doubled_work([client_request(asked="one")], started)] == ["loc_c"]


def test_a_journal_that_was_never_begun_is_empty(tmp_path):
    assert read_journal(tmp_path / "absent") == []


def test_a_case_is_explained_by_the_faults_around_it_and_by_what_the_gateways_said(tmp_path):
    logs = tmp_path / "session_2026" / "logs"
    logs.mkdir(parents=True)
    logged = {"at": datetime.now(UTC).isoformat(), "service": "gateway", "message": "going on", "request_id": "loc_a"}
    lines = [json.dumps(logged), json.dumps({**logged, "request_id": "loc_b"}), "loc_a without a form"]
    (logs / "worker-1-01000000-77.err").write_text("\n".join(lines))
    faults = [InjectedFault("kill_tools", "5", 900.0, 901.0), InjectedFault("stop_gateway", "6 Gateway", 980.0, 995.0)]
    found = explain_case(DoubledWork("begun again", "loc_a", 0, 1, 990.0, 1000.0, (7, 8)), faults, tmp_path, 900.0)
    assert found["faults"] == ["stop_gateway 6 Gateway 80.0 to 95.0 s"]
    assert (found["first_s"], found["again_s"], found["engine_processes"]) == (90.0, 100.0, (7, 8))
    (line,) = found["log_lines"]
    assert line.endswith("s gateway 77: going on")


def test_an_end_without_an_id_is_explained_by_the_warnings_of_its_time(tmp_path):
    logs = tmp_path / "session_2026" / "logs"
    logs.mkdir(parents=True)
    logged = {"at": datetime.now(UTC).isoformat(), "level": "error", "service": "gateway", "message": "route failed"}
    lines = [{**logged, "exception": "Traceback\nOSError: [Errno 24] Too many open files"}, {**logged, "level": "info"}]
    (logs / "worker-1-01000000-77.err").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    now = time.monotonic()
    failed = ClientRequest(now - 5.0, now + 5.0, detail="500 internal: the server answered 500")
    before, after = (
        InjectedFault("handles_gateway", "6 Gateway", now - 9, now - 1),
        InjectedFault("kill_redis", "7", now + 9, now + 9),
    )
    found = explained_end(failed, [before, after], tmp_path, now - 10.0)
    assert found["faults"] == ["handles_gateway 6 Gateway 1.0 to 9.0 s"]
    assert (found["begun_s"], found["accepted_s"], found["ended_s"]) == (5.0, None, 15.0)
    (line,) = found["log_lines"]
    assert line.endswith("s gateway 77: route failed: OSError: [Errno 24] Too many open files")
