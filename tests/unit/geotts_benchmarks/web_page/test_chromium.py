"""The browser's messages: replies go to whoever asked, events to their page. `tests/browser` drives a real one."""

import asyncio
import json
import os

import pytest

from geotts_benchmarks.web_page.chromium import Browser, Tab


@pytest.fixture
async def browser():
    """A browser whose messages are written here."""
    ours, theirs = os.pipe()
    yield Browser(asyncio.StreamReader(), theirs, pid=1)
    os.close(ours)
    os.close(theirs)


def say(browser, **message):
    browser._reader.feed_data(json.dumps(message).encode() + b"\0")


async def test_replies_reach_whoever_asked_in_any_order(browser):
    listening = asyncio.create_task(browser.listen())
    first, second = (asyncio.create_task(browser.ask(name)) for name in ("A.one", "A.two"))
    await asyncio.sleep(0)
    say(browser, id=2, result={"n": 2})
    say(browser, id=1, result={"n": 1})
    assert (await first, await second) == ({"n": 1}, {"n": 2})
    browser._reader.feed_eof()
    await listening


async def test_a_refused_command_raises(browser):
    listening = asyncio.create_task(browser.listen())
    asking = asyncio.create_task(browser.ask("A.one"))
    await asyncio.sleep(0)
    say(browser, id=1, error={"message": "no such command"})
    with pytest.raises(AssertionError, match="no such command"):
        await asking
    browser._reader.feed_eof()
    await listening


async def test_a_page_collects_its_requests_its_bytes_and_its_errors(browser):
    tab = Tab(browser, "s")
    tab.on_event("Network.requestWillBeSent", {"request": {"url": "http://a/"}})
    tab.on_event("Network.loadingFinished", {"encodedDataLength": 70.0})
    tab.on_event("Network.loadingFinished", {"encodedDataLength": 7})
    tab.on_event("Log.entryAdded", {"entry": {"text": "blocked", "url": "http://b/"}})
    tab.on_event("Runtime.consoleAPICalled", {"args": [{"value": "x"}]})
    tab.on_event("Page.javascriptDialogOpening", {"message": "hello"})
    tab.on_event("Page.frameNavigated", {})
    assert (tab.requests, tab.received_bytes) == (["http://a/"], 77)
    assert tab.console_errors == ["blocked http://b/", "['x']", "dialog: hello"]
