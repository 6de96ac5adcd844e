"""Addresses and names that must never be reached, in every disguise we know of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tts.errors import FetchError, FetchErrorKind
from tts.net.http_client import SafeHttpClient
from tts.net.public_addresses import refusal

REFUSED = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "192.168.255.255",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::808:808",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::",
    "3fff::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
]
PUBLIC = ("1.1.1.1", "8.8.8.8", "100.63.255.255", "172.15.0.1", "172.32.0.1", "192.167.1.1", "2606:4700::1111")


@pytest.mark.parametrize("address", REFUSED)
def test_an_address_that_is_not_public_is_refused(address):
    assert refusal(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_not_refused(address):
    assert refusal(address) is None


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_inside_an_ipv6_address_is_refused(address):
    number = int(address)
    for carrier in (f"::ffff:{address}", f"64:ff9b::{address}", f"2002:{number >> 16:x}:{number & 0xFFFF:x}::1"):
        assert refusal(carrier)


TARGETS = [
    *(f"http://{f'[{a}]' if ':' in a else a}/" for a in REFUSED if "%" not in a),
    "http://localhost/",
    "http://LOCALHOST./",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://①②⑦.⓪.⓪.①/",
    "http://[::ffff:7f00:1]/",
    "http://[fe80::1%25eth0]/",
    "http://user@127.0.0.1/",
    "http://example.com:80@127.0.0.1/",
    "http://example.com\\@127.0.0.1/",
    "http://127.0.0.1#@example.com/",
    "http://127.0.0.1:22/",
    "http://127.0.0.1:6379/",
    "http://example.com:8265/",
    "https://example.com:25/",
    "file:///etc/passwd",
    "gopher://127.0.0.1/",
    "ftp://example.com/",
    "unix:///var/run/docker.sock",
    "data:text/plain,hi",
    "//127.0.0.1/",
    "http:///etc/passwd",
    "http://",
    "",
    "http://exam ple.com/",
    "http://example.com/\r\nX: y",
    "http://[::1/",
    "http://example.com:99999/",
    "http://" + "a" * 9000,
]


@pytest.mark.parametrize("url", TARGETS)
async def test_a_url_with_a_disguised_private_host_is_never_fetched(url):
    with pytest.raises(FetchError) as caught:
        await SafeHttpClient().fetch(url)
    assert caught.value.kind in (FetchErrorKind.REFUSED, FetchErrorKind.BAD_URL, FetchErrorKind.DNS)


def test_the_test_has_at_least_forty_disguised_urls():
    assert len(TARGETS) >= 40
