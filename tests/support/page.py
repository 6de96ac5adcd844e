"""What a person does on the page, and what axe-core says about it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from support.chromium import Tab

ANSWERED = "!document.getElementById('answer').hidden"
FREE = "!document.getElementById('go').disabled"
SCREENS = [(width, height, dark) for width, height in ((1280, 900), (390, 844)) for dark in (False, True)]


async def choose(tab: Tab, *files: Path) -> None:
    """Put photos into the form."""
    await tab.choose("#photos", *files)
    await tab.wait_until(f"document.querySelectorAll('#thumbs li').length >= {len(files)}")


async def locate(tab: Tab, *files: Path, depth: str = "standard") -> None:
    """Put photos into the form and wait for the answer."""
    await choose(tab, *files)
    await tab.js(f"document.getElementById('depth').value = '{depth}'; document.getElementById('go').click()")
    await tab.wait_until(ANSWERED)


async def text_of(tab: Tab, selector: str) -> str:
    """What a person reads in an element; empty where there is none."""
    return await tab.js(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")


async def entries(tab: Tab) -> list[str]:
    """The entries of the case."""
    return await tab.js("[...document.querySelectorAll('#case-runs li')].map((one) => one.innerText)")


async def write(tab: Tab, field: str, text: str) -> None:
    """Type into a field, by its id."""
    await tab.js(f"document.getElementById({json.dumps(field)}).focus()")
    await tab.ask("Input.insertText", text=text)


_RUN_AXE = """axe.run(document, {resultTypes: ['violations']}).then((done) => {
    const where = (node) => node.html.slice(0, 160) + node.failureSummary.slice(0, 200);
    return JSON.stringify(done.violations.map((one) => [one.id, ...one.nodes.slice(0, 3).map(where)]));
})"""


async def violations(tab: Tab, axe: str) -> set[tuple[Any, ...]]:
    """What axe-core finds, in every size and scheme."""
    await tab.js(f"{axe}; 0")
    found: set[tuple[Any, ...]] = set()
    for width, height, dark in SCREENS:
        await tab.look(width=width, height=height, dark=dark)
        await asyncio.sleep(0.4)  # colours change in a moment
        found |= {(width, dark, *finding) for finding in json.loads(await tab.js(_RUN_AXE))}
    await tab.look()
    return found
