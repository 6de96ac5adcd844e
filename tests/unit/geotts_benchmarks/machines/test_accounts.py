"""What `geotts bench nodes` and `chaos` count, on runs of which it is known."""

import json

from geotts_benchmarks.machines.accounts import Phase, doubled, extra_waits_s, phase_row, read_journal, undisturbed_s
from geotts_benchmarks.machines.clients import Seen


def seen(request_id="loc_a", begun=0.0, ended=3.0, turns=((0, 0, 1.0), (0, 1, 2.0)), outcome="answered"):
    return Seen(begun, ended, request_id, accepted=begun + 0.1, outcome=outcome, turns=list(turns))


def journal(tmp_path, *lines):
    file = tmp_path / "journal.jsonl"
    file.write_text("".join(json.dumps({"at": at, "session": name, "turn": turn}) + "\n" for at, name, turn in lines))
    return read_journal(file)


def test_nothing_is_doubled_where_each_turn_began_once(tmp_path):
    assert doubled([seen()], journal(tmp_path, (0.2, "loc_a/0", 0), (1.2, "loc_a/0", 1))) == 0


def test_a_turn_that_begins_again_before_its_end_was_seen_is_not_doubled(tmp_path):
    assert doubled([seen()], journal(tmp_path, (0.2, "loc_a/0", 0), (0.9, "loc_a/0", 0), (1.2, "loc_a/0", 1))) == 0


def test_a_turn_that_begins_again_after_its_end_was_seen_is_doubled(tmp_path):
    assert doubled([seen()], journal(tmp_path, (0.2, "loc_a/0", 0), (1.1, "loc_a/0", 0), (1.2, "loc_a/0", 1))) == 1


def test_a_turn_that_ends_twice_in_the_log_is_doubled(tmp_path):
    assert doubled([seen(turns=((0, 0, 1.0), (0, 0, 1.5)))], journal(tmp_path)) == 1


def test_a_request_that_no_client_knows_is_doubled(tmp_path):
    assert doubled([seen()], journal(tmp_path, (0.2, "loc_a/0", 0), (0.2, "loc_b/0", 0), (0.3, "loc_b/1", 0))) == 1


def test_a_journal_that_was_never_begun_is_empty(tmp_path):
    assert read_journal(tmp_path / "absent") == []


def test_extra_waits_are_those_beyond_the_median_of_the_calm_phase():
    calm, fault = Phase("calm", 0.0, 10.0), Phase("kill", 10.0, 30.0)
    before = [seen(begun=at, ended=at + 3.0) for at in (0.0, 3.0, 6.0)]
    during = [seen(begun=9.0, ended=20.0), seen(begun=20.0, ended=23.0), seen(begun=12.0, ended=13.0, outcome="failed")]
    usual_s = undisturbed_s([*before, *during], calm)
    assert usual_s == 3.0
    assert extra_waits_s([*before, *during], [fault], usual_s) == [8.0, 0.0]
    row = phase_row([*before, *during], fault, usual_s)
    assert (row["requests"], row["not_answered"], row["extra_wait_worst_s"]) == (3, 1, 8.0)
