"""The file of what left the machine: its lines end with the retention, like every other trace of a request."""

import os
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.service import an_app

from deployments.wiring.brokers import NotErased
from deployments.wiring.local import local_tools
from tts.domain.outgoing_request import Outgoing, rfc3339
from tts.egress.log_file import EgressLog
from tts.egress.records import EGRESS, EgressRecord

HOUR = 3600.0
DAY = 24 * HOUR


def a_request(age_s, name="loc_1"):
    at = rfc3339(datetime.now(UTC) - timedelta(seconds=age_s))
    return Outgoing(at=at, host="h", method="GET", url="u", bytes_sent=0, request_id=name)


def names(path):
    return [orjson.loads(line)["request_id"] for line in path.read_bytes().splitlines() if line.strip()]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out.jsonl"


async def test_lines_that_are_past_the_retention_go_from_the_file_and_others_stay(path):
    log = EgressLog(path)
    for age_s in (30 * HOUR, 25 * HOUR, 23 * HOUR, 1.0):
        log(a_request(age_s, f"loc_{age_s / HOUR:.0f}"))
    size = path.stat().st_size
    await log.purge(DAY)
    assert names(path) == ["loc_23", "loc_0"]
    assert path.stat().st_size == size  # overwritten in place: nobody who appends is disturbed
    await log.purge(HOUR)
    assert names(path) == ["loc_0"]


async def test_expired_lines_from_before_a_restart_are_purged_in_any_order(path):
    for age_s in (1.0, 30 * HOUR, 2.0, 40 * HOUR):
        EgressLog(path)(a_request(age_s, f"loc_{age_s / HOUR:.0f}"))
    await EgressLog(path).purge(DAY)
    assert names(path) == ["loc_0", "loc_0"]


async def test_lines_written_late_expire_by_their_own_time(path):
    log = EgressLog(path)
    log(a_request(1.0, "young"))
    await log.purge(DAY)
    log.write([a_request(DAY - HOUR, "late"), a_request(DAY - 2 * HOUR, "later")])
    await log.purge(DAY - 1.5 * HOUR)
    assert names(path) == ["young", "later"]
    await log.purge(DAY - 3 * HOUR)
    assert names(path) == ["young"]


async def test_a_purge_removes_damaged_lines_too(path):
    log = EgressLog(path)
    log(a_request(30 * HOUR))
    with path.open("ab") as file:
        file.write(b'{"at":"2026-01-0\n')
        file.write(b'{"at":"2026-01-01T00:00:00Z","host":"h","met')  # a crash, and then others go on
    log(a_request(1.0, "loc_2"))
    await log.purge(DAY)
    (line,) = (line for line in path.read_bytes().splitlines() if line.strip())
    assert b"loc_2" in line


async def test_a_rotated_or_truncated_log_is_read_from_its_start(path):
    log = EgressLog(path)
    for _ in range(10):
        log(a_request(30 * HOUR))
    await log.purge(DAY)
    os.rename(path, path.with_suffix(".1"))  # the operator rotates
    log(a_request(30 * HOUR, "old"))
    log(a_request(1.0, "new"))
    await log.purge(DAY)
    assert names(path) == ["new"]
    os.truncate(path, 0)
    log(a_request(30 * HOUR, "old"))
    await log.purge(DAY)
    assert names(path) == []


async def test_a_second_purge_skips_blank_lines_and_lines_that_cannot_have_expired(path, monkeypatch):
    log = EgressLog(path)
    log.write([a_request(30 * HOUR)] * 500 + [a_request(1.0)] * 500)
    await log.purge(DAY)
    seen = []

    def noted(at, line):
        seen.append(line)
        return True

    monkeypatch.setattr("tts.egress.log_file._is_since", noted)
    await log.purge(DAY)
    assert len(seen) <= 3


def egress_records(*sent):
    return [EgressRecord(one.request_id, one) for one in sent]


@given(st.lists(st.lists(st.integers(1, 60), max_size=4), max_size=8))
async def test_a_purge_removes_exactly_the_expired_lines(tmp_path_factory, rounds):
    path = tmp_path_factory.mktemp("o") / "f"
    log = EgressLog(path)
    written: list[int] = []
    for ages in rounds:
        log.write([a_request(age * HOUR + 600, f"loc_{len(written) + i}") for i, age in enumerate(ages)])
        written += ages
        await log.purge(DAY)
    kept = names(path) if path.exists() else []
    assert kept == [f"loc_{i}" for i, age in enumerate(written) if age < 24]


async def test_the_purge_of_the_gateway_reaches_the_file(data_store, path):
    args = an_app(retention_s=60.0)
    args = args.model_copy(update={"tools": args.tools.model_copy(update={"outgoing_log": str(path)})})
    brokers = local_tools(args).brokers
    await brokers.write_egress(egress_records(a_request(61.0 + HOUR, "old"), a_request(1.0, "new")))
    await brokers.purge()
    assert names(path) == ["new"]
    path.unlink()
    await brokers.purge()  # no file is nothing to purge
    path.mkdir()
    await brokers.write_egress(egress_records(a_request(1.0)))  # recorded in the log of the process, costs no answer
    path.rmdir()


async def test_a_file_that_cannot_be_purged_is_reported(data_store, path, monkeypatch):
    args = an_app()
    args = args.model_copy(update={"tools": args.tools.model_copy(update={"outgoing_log": str(path)})})
    brokers = local_tools(args).brokers
    await brokers.write_egress(egress_records(a_request(30 * DAY)))

    def read_only(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", read_only)
    with pytest.raises(NotErased, match="Permission denied"):
        await brokers.purge()


async def test_a_record_of_a_tool_request_states_whether_it_is_in_the_file(path):
    request = a_request(1.0, "loc_egress_log")
    EgressLog()(request)
    EgressLog(path)(request)
    assert EGRESS.take("loc_egress_log") == tuple(
        EgressRecord("loc_egress_log", request, in_file) for in_file in (0, 1)
    )


async def test_requests_written_for_other_parts_are_not_recorded_a_second_time(path):
    log = EgressLog(path)
    EGRESS.take("loc_1")
    log.write([a_request(1.0), a_request(1.0, "loc_2")])
    assert EGRESS.take("loc_1") == ()
    assert names(path) == ["loc_1", "loc_2"]
    assert await log.forget("loc_1") == 1
    log.write([a_request(1.0), a_request(1.0, "loc_2")])
    assert names(path) == ["loc_2", "loc_2"]
