"""The reference of the API in a real Chromium: under the policy of the page, and every example in it runs."""

import json

import pytest
from support.chromium import CHROMIUM, MISSING
from support.page import text_of, violations, write

pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason=MISSING), pytest.mark.asyncio(loop_scope="module")]
OPERATIONS = "[...document.querySelectorAll('.try')].map((one) => one.closest('section').querySelector('h2').id)"


async def open_reference(tab, url):
    await tab.open(url + "/docs")
    await tab.wait_until("document.querySelectorAll('.try details').length > 20")


async def run_example(tab, name):
    """Open the form of an operation and send what it proposes; its status."""
    found = f"document.getElementById({json.dumps(name)}).closest('section')"
    await tab.js(f"{found}.querySelector('.try details').open = true")
    await tab.wait_until(f"Boolean({found}.querySelector('.example'))")
    await tab.js(f"{found}.querySelector('.example button.main').click()")
    await tab.wait_until(
        f"{found}.querySelector('.reply b') && !{found}.querySelector('.example button.main').disabled"
    )
    return int((await tab.js(f"{found}.querySelector('.reply b').textContent")).split()[0])


async def test_every_example_of_the_api_reference_runs_as_it_is_proposed(service, page):
    await open_reference(page, service[0])
    names = await page.js(OPERATIONS)
    assert {"post-locate", "post-check", "get-locate-request-id", "post-v1-responses", "post-mcp"} <= set(names)
    erasing = [name for name in names if name.startswith("delete-")]
    found = {name: await run_example(page, name) for name in names if name not in erasing}
    for name in reversed(erasing):
        if name == "delete-locate-request-id":
            await run_example(page, "post-locate")  # the one before was erased with its case
        found[name] = await run_example(page, name)
    assert {name: status for name, status in found.items() if status >= 400} == {}


async def test_an_example_shows_its_reply_and_the_same_command_for_a_terminal(service, page):
    await open_reference(page, service[0])
    assert await run_example(page, "post-check") == 200
    section = "document.getElementById('post-check').closest('section')"
    reply = json.loads(await page.js(f"{section}.querySelector('.reply pre').textContent"))
    assert reply["answer"]["city"] == "Bellinzona"
    assert reply["answer"]["check"]["verdict"] == "contradicted"
    command = await page.js(f"{section}.querySelector('.command').textContent")
    assert "-F image=@photo.jpg -F 'claim=Lugano'" in command
    assert command.endswith(f"'{service[0]}/check'")
    await run_example(page, "get-locate-request-id")
    assert reply["request_id"] in await page.js(
        "document.getElementById('get-locate-request-id').closest('section').innerText"
    )


async def test_the_api_reference_links_fields_to_their_values_and_finds_operations(service, page):
    await open_reference(page, service[0])
    links = await page.js("[...document.querySelectorAll('.reference main td a')].map((one) => one.hash)")
    assert len(links) > 50
    inner = "[...document.querySelectorAll('.reference a[href^=\"#\"]')]"
    assert await page.js(f"{inner}.filter((one) => !document.getElementById(one.hash.slice(1))).length") == 0
    await write(page, "find", "cases delete")
    shown = await page.js(
        "[...document.querySelectorAll('.reference nav li')].filter((one) => !one.hidden).map((one) => one.innerText)"
    )
    assert shown == ["DELETE /cases/{case_id}", "DELETE /cases/{case_id}/runs/{request_id}"]
    assert "GeoTTS" in await text_of(page, ".brand")


async def test_the_api_reference_has_no_accessibility_violation(service, page, axe):
    await open_reference(page, service[0])
    await run_example(page, "get-healthz")
    await page.js("document.getElementById('post-locate').closest('section').querySelector('.try details').open = true")
    assert await violations(page, axe) == set()
