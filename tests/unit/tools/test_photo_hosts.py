import pytest

from tools.photo_hosts import is_photo_host


@pytest.mark.parametrize("url", ["https://flickr.com/a", "https://www.flickr.com./a", "http://FLICKR.com:80/a"])
def test_a_photo_site_is_known_by_its_host_and_those_below_it(url):
    assert is_photo_host(url)


@pytest.mark.parametrize("url", ["https://notflickr.com/", "https://example.org/flickr.com", "http://[", ""])
def test_other_hosts_and_invalid_urls_are_no_photo_sites(url):
    assert not is_photo_host(url)
