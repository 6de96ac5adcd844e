"""Secrets in URLs are masked in texts, and Redis takes its passwords from the environment."""

import pytest

from tts.net.redis_password import run_store_password, tool_cache_password
from tts.net.url_secrets import mask_secrets, secrets_in

URLS = [
    ("redis://:hunter2@host:6379/0", "redis://:***@host:6379/0", ("hunter2",)),
    ("redis://user:hunter2@host/0", "redis://user:***@host/0", ("hunter2",)),
    ("redis://user:a:b@c@host/0", "redis://user:***@host/0", ("a:b@c",)),
    ("redis://host/0?password=hunter2&db=1", "redis://host/0?password=***&db=1", ("hunter2",)),
    ("https://t.example/{z}/{x}.png?key=abc%20d&s=1", "https://t.example/{z}/{x}.png?key=***&s=1", ("abc d",)),
    ("https://t.example/a?x=1&api_key=q", "https://t.example/a?x=1&api_key=***", ("q",)),
    ("https://t.example/a?access_token=q#f", "https://t.example/a?access_token=***#f", ("q",)),
    ("http://host:8000/v1", "http://host:8000/v1", ()),
    ("http://host:8000/@here?zoom=3", "http://host:8000/@here?zoom=3", ()),
    ("redis://user@host/0", "redis://user@host/0", ()),
    ("sqlite:///data/a:b@c.sqlite", "sqlite:///data/a:b@c.sqlite", ()),
    ("monkey=3, not a URL", "monkey=3, not a URL", ()),
]


@pytest.mark.parametrize(("url", "shown", "secrets"), URLS)
def test_secrets_in_urls_are_known_and_masked(url, shown, secrets):
    assert (mask_secrets(url), secrets_in(url)) == (shown, secrets)
    assert mask_secrets(f"a text with {url} and more") == f"a text with {shown} and more"


def test_the_tool_cache_has_the_password_of_the_run_store_unless_it_has_its_own():
    both = {"GEOTTS_REDIS_PASSWORD": "a", "GEOTTS_TOOLS_REDIS_PASSWORD": "b"}
    assert (run_store_password(both), tool_cache_password(both)) == ("a", "b")
    assert tool_cache_password({"GEOTTS_REDIS_PASSWORD": "a"}) == "a"
    assert tool_cache_password({**both, "GEOTTS_TOOLS_REDIS_PASSWORD": ""}) is None
    assert (run_store_password({}), tool_cache_password({})) == (None, None)
