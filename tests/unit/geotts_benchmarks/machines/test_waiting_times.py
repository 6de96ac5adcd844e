"""How long the requests of `geotts bench nodes` waited, on runs of which it is known."""

from geotts_benchmarks.machines.clients import ClientRequest
from geotts_benchmarks.machines.waiting_times import Phase, extra_waits_s, phase_row, undisturbed_s


def client_request(started_at, ended, outcome="answered"):
    return ClientRequest(started_at, ended, "loc_a", accepted=started_at + 0.1, outcome=outcome)


def test_extra_waits_are_those_beyond_the_median_of_the_calm_phase():
    calm, fault = Phase("calm", 0.0, 10.0), Phase("kill", 10.0, 30.0)
    before = [client_request(at, at + 3.0) for at in (0.0, 3.0, 6.0)]
    during = [client_request(9.0, 20.0), client_request(20.0, 23.0), client_request(12.0, 13.0, outcome="failed")]
    usual_s = undisturbed_s([*before, *during], calm)
    assert usual_s == 3.0
    assert extra_waits_s([*before, *during], [fault], usual_s) == [8.0, 0.0]
    row = phase_row([*before, *during], fault, usual_s)
    assert (row["requests"], row["not_answered"], row["extra_wait_worst_s"]) == (3, 1, 8.0)
