"""What keeps the page small and quick with many photos and events, in a real Chromium."""

import pytest
from support.chromium import CHROMIUM, MISSING
from support.page import ANSWERED, choose, locate, text_of

from tts.package_files import SAMPLES

pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason=MISSING), pytest.mark.asyncio(loop_scope="module")]
TOWN, KOREAN = (SAMPLES / f"{name}.jpg" for name in ("town-sign-latin", "pharmacy-korean"))


async def test_photos_are_thumbnails_until_one_is_looked_at_closely(page):
    await choose(page, TOWN, KOREAN)
    small = "[...document.querySelectorAll('#thumbs img')].map((one) => [one.naturalWidth, one.naturalHeight])"
    await page.wait_until(f"{small}.every(([wide]) => wide)")
    assert await page.js(small) == [[96, 72]] * 2
    await page.js("document.querySelector('#thumbs li:last-child button').click()")
    await page.js("document.getElementById('go').click()")
    await page.wait_until(ANSWERED + " && document.querySelector('.photo').naturalHeight")
    assert await page.js("document.querySelector('.photo').naturalHeight") == 176
    await page.wait_until("document.querySelector('#case-runs img')?.naturalHeight == 44")
    assert await page.js(
        "document.images.length == [...document.images].filter((one) => one.naturalWidth < 800).length"
    )
    await page.js("document.querySelector('.photo-strip button').click()")
    await page.wait_until("document.querySelector('#viewer-sheet img').naturalWidth == 800")
    await page.js("document.getElementById('viewer-close').click()")
    await page.wait_until("!document.querySelector('#viewer-sheet img')")


async def test_a_file_that_is_no_photo_has_no_preview(page, tmp_path):
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"no photo")
    await choose(page, broken, TOWN)
    await page.wait_until(
        "document.querySelector('#thumbs .no-preview') && document.querySelector('#thumbs img').naturalWidth"
    )
    assert (await text_of(page, "#thumbs li:first-child")).startswith("no preview")


async def test_many_events_cause_only_one_layout_of_the_page(page):
    await locate(page, TOWN, depth="deep")
    await page.wait_until("!document.getElementById('go').disabled")
    counted = """(async () => {
      const { Lane } = await import(new URL('web/lane.js', document.baseURI));
      const lane = new Lane(99, () => null, () => null);
      document.getElementById('lanes').append(lane.root);
      const log = lane.root.querySelector('.log');
      let reads = 0;
      const read = Object.getOwnPropertyDescriptor(Element.prototype, 'scrollHeight').get;
      Object.defineProperty(log, 'scrollHeight', { get() { reads += 1; return read.call(log); } });
      const frame = () => new Promise(requestAnimationFrame);
      const say = (turn) => lane.take({ type: 'text', turn, text: 'A line of text. '.repeat(20) });
      for (let turn = 0; turn < 100; turn += 1) say(turn);
      const during = reads;
      await frame();
      const [after, atEnd] = [reads, read.call(log) - log.clientHeight - log.scrollTop < 2];
      log.scrollTop = 0;
      say(100);
      await frame();
      const stays = log.scrollTop == 0;
      lane.root.remove();
      return [during, after, atEnd, stays];
    })()"""
    assert await page.js(counted) == [0, 1, True, True]


async def test_a_tile_that_is_no_longer_on_the_map_keeps_no_pixels(page):
    await locate(page, TOWN)
    await page.wait_until("document.querySelectorAll('.leaflet-tile-loaded').length > 3")
    await page.js("window.tiles = [...document.querySelectorAll('canvas.leaflet-tile')]; 0")
    assert await page.js("tiles.length > 3 && tiles.every((one) => one.width == 256)")
    await page.js("document.querySelector('#map .leaflet-control-zoom-out').click()")
    await page.wait_until(
        "tiles.every((one) => one.isConnected || one.width == 0) && tiles.some((one) => !one.isConnected)"
    )
