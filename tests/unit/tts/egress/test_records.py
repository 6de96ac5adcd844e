"""What leaves this process is kept by request until somebody takes it."""

from tts.domain.outgoing_request import Outgoing
from tts.egress.records import EgressRecord, EgressRecords


def outgoing(request_id, host="h"):
    return Outgoing.now(host=host, method="POST", url=f"http://{host}/v1", bytes_sent=1, request_id=request_id)


def test_a_record_is_taken_once_and_only_by_its_request():
    egress, mine, other = EgressRecords(), outgoing("loc_1"), outgoing("loc_2")
    egress.record(mine)
    egress.record(other, in_file=True)
    assert egress.take("loc_1") == (EgressRecord("loc_1", mine),)
    assert egress.take("loc_1") == ()
    assert egress.take("loc_2") == (EgressRecord("loc_2", other, in_file=True),)


def test_a_record_without_a_request_is_not_kept():
    egress = EgressRecords()
    egress.record(outgoing(""))
    assert egress.take("") == ()


def test_records_of_old_requests_that_nobody_takes_are_dropped():
    egress = EgressRecords()
    for number in range(10_001):
        egress.record(outgoing(f"loc_{number}"))
    assert egress.take("loc_0") == ()
    assert len(egress.take("loc_10000")) == 1


def test_a_watcher_of_a_request_is_woken_by_records_of_this_request_only():
    egress = EgressRecords()
    with egress.watch("loc_1") as news:
        egress.record(outgoing("loc_2"))
        assert not news.is_set()
        egress.record(outgoing("loc_1"))
        assert news.is_set()
