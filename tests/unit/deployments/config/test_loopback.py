import pytest

from deployments.config.loopback import is_loopback


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.8.9.10", "::1"])
def test_loopback_addresses_and_localhost_are_reached_from_this_machine_only(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.7", "geotts", "127.0.0.1.example.org", ""])
def test_other_addresses_and_names_may_be_reached_from_elsewhere(host):
    assert not is_loopback(host)
