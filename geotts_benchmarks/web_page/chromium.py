"""A real Chromium, driven over its debugging pipe: no driver to install, no port to open."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from tts.aio import spawn

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MISSING = "no Chromium here: apt-get install chromium"

# Chromium reads commands from descriptor 3 and writes to 4; they must not be in each other's way when they are moved
_MOVE_PIPES = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for end, place in zip(ends, (3, 4)):
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""
_PATIENCE_S = 120.0
_CLOSE_PATIENCE_S = 15.0


class Tab:
    """One page: the addresses that it asked, and what its console, its policy and its scripts complained about."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session
        self.console_errors: list[str] = []
        self.requests: list[str] = []  # with Network.enable
        self.received_bytes = 0
        self._n_loads = 0

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """A command of the DevTools protocol; its result. Raises AssertionError when the browser refuses it."""
        return await self._browser.ask(method, self._session, **params)

    async def js(self, expression: str) -> Any:
        """The value of an expression in the page, awaited."""
        reply = await self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in reply:
            raise AssertionError(f"{expression}: {reply['exceptionDetails']}")
        return reply["result"].get("value")

    async def wait_until(self, expression: str) -> Any:
        """Wait until an expression is true; its value."""
        try:
            async with asyncio.timeout(_PATIENCE_S):
                while not (value := await self.js(expression)):  # noqa: ASYNC110  the page has no way to wake us
                    await asyncio.sleep(0.05)
        except TimeoutError:
            shown = await self.js("document.body.innerText")
            raise AssertionError(f"never true: {expression}; {self.console_errors}\n{shown}") from None
        return value

    async def open(self, url: str) -> None:
        """Go to an address, and wait until it is loaded."""
        await self.ask("Page.navigate", url=url)
        await self.wait_until("document.readyState === 'complete'")

    async def reload(self) -> None:
        """Load the page again, and wait until that is done."""
        before = self._n_loads
        await self.ask("Page.reload")
        async with asyncio.timeout(_PATIENCE_S):
            while self._n_loads == before:  # noqa: ASYNC110  the next load event is all there is to wait for
                await asyncio.sleep(0.02)

    async def look(self, *, dark: bool = False, width: int = 1280, height: int = 900) -> None:
        """Light or dark, and how wide."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.ask("Emulation.setEmulatedMedia", features=[scheme])
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        await self.ask("Emulation.setDeviceMetricsOverride", **metrics)

    async def choose(self, selector: str, *files: Path) -> None:
        """Put files into a file input, as a person does."""
        root = (await self.ask("DOM.getDocument"))["root"]["nodeId"]
        node = (await self.ask("DOM.querySelector", nodeId=root, selector=selector))["nodeId"]
        await self.ask("DOM.setFileInputFiles", files=[str(file.resolve()) for file in files], nodeId=node)

    async def press(self, key: str, code: int, text: str = "", modifiers: int = 0) -> None:
        """Press and release a key; `text` is what it types."""
        for kind in ("keyDown", "keyUp"):
            typed = {"text": text} if text and kind == "keyDown" else {}
            await self.ask(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                modifiers=modifiers,
                **typed,
            )

    async def picture(self, *, whole: bool = False) -> bytes:
        """A PNG of what is shown, or of the whole page."""
        reply = await self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(reply["data"])

    def on_event(self, method: str, params: dict[str, Any]) -> None:
        """Take an event of the page."""
        if method == "Page.loadEventFired":
            self._n_loads += 1
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Network.loadingFinished":
            self.received_bytes += int(params["encodedDataLength"])
        elif method == "Runtime.exceptionThrown":
            self.console_errors.append(str(params["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.console_errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        elif method == "Runtime.consoleAPICalled":
            self.console_errors.append(str([arg.get("value") for arg in params["args"]]))
        elif method == "Page.javascriptDialogOpening":
            self.console_errors.append(f"dialog: {params['message']}")


class Browser:
    """A running browser; `pid` is its process."""

    def __init__(self, reader: asyncio.StreamReader, write: int, pid: int) -> None:
        self._reader = reader
        self._write = write
        self.pid = pid
        self._message_ids = itertools.count(1)
        self._pending_replies: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._tabs: dict[str, Tab] = {}

    async def ask(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """A command, to the browser or to a page of it; its result."""
        number = next(self._message_ids)
        self._pending_replies[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self._write, json.dumps(message).encode() + b"\0")
        async with asyncio.timeout(_PATIENCE_S):
            return await self._pending_replies[number]

    async def tab(self) -> Tab:
        """A new page."""
        target = (await self.ask("Target.createTarget", url="about:blank"))["targetId"]
        session = (await self.ask("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        tab = self._tabs[session] = Tab(self, session)
        for domain in ("Page", "Runtime", "Log", "DOM"):
            await tab.ask(f"{domain}.enable")
        return tab

    async def listen(self) -> None:
        """Take what the browser says, until it ends."""
        while True:
            with suppress(asyncio.IncompleteReadError):
                reply = json.loads((await self._reader.readuntil(b"\0"))[:-1])
                waiting = self._pending_replies.pop(reply.get("id", 0), None)
                if waiting is not None and not waiting.done():  # done: whoever asked has lost patience
                    if "error" in reply:
                        waiting.set_exception(AssertionError(reply["error"]))
                    else:
                        waiting.set_result(reply["result"])
                elif tab := self._tabs.get(reply.get("sessionId", "")):
                    tab.on_event(reply["method"], reply.get("params", {}))
                continue
            return


@asynccontextmanager
async def chromium(profile: Path) -> AsyncIterator[Browser]:
    """A browser with a profile of its own, gone afterwards."""
    assert CHROMIUM is not None, MISSING
    (their_in, our_out), (our_in, their_out) = os.pipe(), os.pipe()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _MOVE_PIPES, str(their_in), str(their_out), CHROMIUM, "--headless=new", "--no-sandbox",
        "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
        "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank",
        pass_fds=(their_in, their_out), stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    os.close(their_in)
    os.close(their_out)
    reader = asyncio.StreamReader(limit=2**26)
    pipe = os.fdopen(our_in, "rb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    browser = Browser(reader, our_out, process.pid)
    listening = spawn(browser.listen(), name="chromium")
    try:
        yield browser
    finally:
        try:
            async with asyncio.timeout(_CLOSE_PATIENCE_S):
                with suppress(AssertionError, BrokenPipeError):
                    await browser.ask("Browser.close")
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening
        transport.close()
        os.close(our_out)
