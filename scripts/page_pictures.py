"""Make the pictures of the page in docs/images: fifteen states, in a real Chromium, with photos of the project only.

    .venv/bin/python scripts/page_pictures.py [NAME…]

The photos are the samples that ship (`tts/data/samples`) and an empty one. Services and browser run in this process, on
ports of their own.
"""

from __future__ import annotations

import asyncio
import io
import json
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.page import ANSWERED, FREE, choose, locate, write  # noqa: E402
from support.service import an_app, serving  # noqa: E402

from deployments.config import AppArgs  # noqa: E402
from geotts_benchmarks.web_page.chromium import Tab, chromium  # noqa: E402
from tts.config import ScriptedEngine  # noqa: E402
from tts.package_files import SAMPLES  # noqa: E402

IMAGES = ROOT / "docs" / "images"
QUALITY = 66
PHONE = {"width": 390, "height": 844}
TOWN, KOREAN, GEORGIAN, GREEK, CYRILLIC = (
    SAMPLES / f"{name}.jpg"
    for name in ("town-sign-latin", "pharmacy-korean", "station-georgian", "opening-hours-greek", "bookshop-cyrillic")
)
TILES = "document.querySelectorAll('.leaflet-tile-loaded').length > 3"
LANES = "document.querySelectorAll('.lane').length"
Scene = Callable[[Tab, Path], Awaitable[None]]


async def open_page(tab: Tab, url: str, *, dark: bool = False, **size: int) -> None:
    """The page as it opens, at 1280 × 900 or another size."""
    await tab.open("about:blank")
    await tab.look(dark=dark, **size)
    await tab.open(url)
    await tab.wait_until("document.getElementById('foot').textContent")


async def locate_photos(tab: Tab, *photos: Path) -> None:
    """An answer with its map, from its top."""
    await locate(tab, *photos)
    await tab.wait_until(FREE)
    await tab.wait_until(TILES)
    await top(tab, "#answer")


async def top(tab: Tab, selector: str) -> None:
    """Scroll an element to the top."""
    await tab.js(f"document.querySelector({json.dumps(selector)}).scrollIntoView()")


async def check_claims(tab: Tab, *places: str) -> None:
    """The photo of the town sign, held against claims."""
    await choose(tab, TOWN)
    await tab.js("document.getElementById('check').open = true")
    for number, place in enumerate(places):
        if number:
            await tab.js("document.getElementById('claims-more').click()")
        await write(tab, f"claim-{number}", place)
    await tab.js("document.getElementById('go').click()")
    await tab.wait_until(ANSWERED)
    await tab.wait_until(FREE)
    await tab.wait_until(TILES)
    await top(tab, "#answer")


async def empty(tab: Tab, folder: Path) -> None:
    """Before anything is chosen."""


async def answer(tab: Tab, folder: Path) -> None:
    """An answer with its map."""
    await locate_photos(tab, TOWN)


async def photo(tab: Tab, folder: Path) -> None:
    """The photo of an answer, enlarged once."""
    await locate_photos(tab, TOWN)
    await tab.js("document.querySelector('.photo-strip button').click()")
    await tab.press("+", 187, "+")


async def queue(tab: Tab, folder: Path) -> None:
    """Five photos of different places, two of them answered."""
    await choose(tab, TOWN, KOREAN, GEORGIAN, GREEK, CYRILLIC)
    await tab.js("document.getElementById('apart').click(); document.getElementById('go').click()")
    await tab.wait_until("document.querySelectorAll('#case-runs .entry:is(.done, .abstained)').length >= 2")
    await top(tab, "#case")


async def case(tab: Tab, folder: Path) -> None:
    """A case of two photos with title, tags, notes and a statement, after it was saved."""
    await choose(tab, TOWN, GEORGIAN)
    await tab.js("document.getElementById('apart').click(); document.getElementById('go').click()")
    await tab.wait_until("document.querySelectorAll('#case-runs .entry:is(.done, .abstained)').length == 2")
    await tab.wait_until(FREE)
    await tab.js("document.querySelector('#case details').open = true")
    await write(tab, "case-title", "Two signs from the archive")
    await write(tab, "case-tags", "archive, signs")
    await write(tab, "case-notes", "The caption of the first says Lugano.")
    await write(tab, "claim-text", "taken in Lugano")
    await tab.press("Enter", 13, "\r")
    await tab.wait_until("document.getElementById('case-status').textContent == 'saved'")
    await top(tab, "#case")


async def cases(tab: Tab, folder: Path) -> None:
    """The list of cases, with the one that `case` saved."""
    await tab.js("location.hash = '#cases'")
    await tab.wait_until("document.querySelectorAll('#cases-list li').length")
    await top(tab, "#cases")


async def check(tab: Tab, folder: Path) -> None:
    """A claim that is checked: the town of the sign."""
    await check_claims(tab, "Lugano")


async def compare(tab: Tab, folder: Path) -> None:
    """Three claims that are compared."""
    await check_claims(tab, "Lugano", "Bellinzona", "Italy")


async def show_continued(tab: Tab, folder: Path) -> None:
    """The answer to a request that continues one, without its first candidate."""
    await locate_photos(tab, TOWN)
    await tab.js("document.querySelector('.candidate .small-button').click()")
    await tab.wait_until("Boolean(document.querySelector('.changed'))")
    await tab.wait_until(FREE)
    await top(tab, "#answer")


async def unknown(tab: Tab, folder: Path) -> None:
    """An abstention: a photo of one colour."""
    nothing = folder / "plain.jpg"
    Image.new("RGB", (900, 600), (146, 170, 190)).save(nothing)
    await choose(tab, nothing)
    await tab.js("document.getElementById('go').click()")
    await tab.wait_until(ANSWERED)
    await top(tab, "#answer")


async def show_refused(tab: Tab, folder: Path) -> None:
    """A request that is refused, as its area has no such name."""
    await choose(tab, TOWN)
    await tab.js("document.getElementById('more').open = true")
    await write(tab, "within", "Atlantis")
    await tab.js("document.getElementById('go').click()")
    await tab.wait_until("!document.getElementById('problem').hidden")


async def live(tab: Tab, folder: Path) -> None:
    """Four rollouts at work, with tool calls that succeeded."""
    await choose(tab, TOWN)
    await tab.js("document.getElementById('depth').value = 'deep'; document.getElementById('go').click()")
    await tab.wait_until(f"{LANES} == 4 && document.querySelectorAll('.call.ok').length >= 4")
    await top(tab, "#run")


async def reference(tab: Tab, folder: Path) -> None:
    """The reference of the API, with an example that was tried."""
    await tab.open(await tab.js("new URL('docs', document.baseURI).href"))
    await tab.wait_until("document.querySelectorAll('.try details').length > 20")
    section = "document.getElementById('post-check').closest('section')"
    await tab.js(f"{section}.querySelector('.try details').open = true")
    await tab.wait_until(f"Boolean({section}.querySelector('.example'))")
    await tab.js(f"{section}.querySelector('.example button.main').click()")
    await tab.wait_until(f"Boolean({section}.querySelector('.reply b'))")
    await tab.js(f"{section}.scrollIntoView()")


PICTURES: dict[str, tuple[Scene, dict[str, int | bool]]] = {
    "web-empty": (empty, {}),
    "web": (answer, {}),
    "web-photo": (photo, {}),
    "web-phone-dark": (answer, {**PHONE, "dark": True}),
    "web-queue": (queue, {}),
    "web-case": (case, {}),
    "web-case-phone-dark": (case, {**PHONE, "dark": True}),
    "web-cases-phone-dark": (cases, {**PHONE, "dark": True}),
    "web-check": (check, {}),
    "web-compare-dark": (compare, {"dark": True}),
    "web-continued": (show_continued, {}),
    "web-unknown": (unknown, {}),
    "web-refused-phone": (show_refused, {**PHONE}),
    "web-reference": (reference, {}),
    "web-live": (live, {}),
}


async def main(names: list[str]) -> None:
    """Make the named pictures, or all."""
    wanted = {name: PICTURES[name] for name in names or PICTURES}
    slow = an_app(ScriptedEngine(turns=3, tokens_per_turn=12, turn_s=1.5))
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        async with chromium(folder / "profile") as browser:
            tab = await browser.tab()
            for args, own in ((AppArgs(), False), (slow, True)):
                if not any((name == "web-live") == own for name in wanted):
                    continue
                async with serving(args) as (url, _):
                    for name, (scene, look) in wanted.items():
                        if (name == "web-live") == own:
                            await open_page(tab, url, **look)  # type: ignore[arg-type]
                            await scene(tab, folder)
                            await asyncio.sleep(0.8)  # tiles and colours settle
                            keep(name, await tab.picture())
                    await tab.open("about:blank")


def keep(name: str, png: bytes) -> None:
    """As a small JPEG."""
    path = IMAGES / f"{name}.jpg"
    with Image.open(io.BytesIO(png)) as picture:
        picture.convert("RGB").save(path, quality=QUALITY, optimize=True, progressive=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
