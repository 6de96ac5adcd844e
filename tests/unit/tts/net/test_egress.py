"""What leaves this process is kept by request until somebody takes it."""

from tts.domain.outgoing_request import Outgoing
from tts.net.egress import Departure, Egress


def outgoing(request_id, host="h"):
    return Outgoing.now(host=host, method="POST", url=f"http://{host}/v1", bytes_sent=1, request_id=request_id)


def test_a_record_is_taken_once_and_by_its_own_request():
    egress, mine, other = Egress(), outgoing("loc_1"), outgoing("loc_2")
    egress.record(mine)
    egress.record(other, in_file=True)
    assert egress.take("loc_1") == (Departure("loc_1", mine),)
    assert egress.take("loc_1") == ()
    assert egress.take("loc_2") == (Departure("loc_2", other, in_file=True),)


def test_what_belongs_to_no_request_is_not_kept():
    egress = Egress()
    egress.record(outgoing(""))
    assert egress.take("") == ()


def test_requests_that_nobody_asks_about_do_not_pile_up():
    egress = Egress()
    for number in range(10_001):
        egress.record(outgoing(f"loc_{number}"))
    assert egress.take("loc_0") == ()
    assert len(egress.take("loc_10000")) == 1


def test_who_watches_a_request_is_woken_by_its_records_only():
    egress = Egress()
    with egress.watch("loc_1") as news:
        egress.record(outgoing("loc_2"))
        assert not news.is_set()
        egress.record(outgoing("loc_1"))
        assert news.is_set()
