"""One service and one browser for a whole file: the page as it opens, and axe-core."""

import subprocess
import tarfile

import pytest
import pytest_asyncio
from support.chromium import chromium
from support.service import serving

from deployments.config import AppArgs


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(data_store):
    async with serving(AppArgs()) as (url, gateway):
        yield url, gateway


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tab(tmp_path_factory):
    async with chromium(tmp_path_factory.mktemp("browser") / "profile") as browser:
        tab = await browser.tab()
        await tab.ask("Network.enable")
        yield tab


@pytest_asyncio.fixture(loop_scope="module")
async def page(service, tab):
    """The page as it opens, at 1280 × 900 in light; its console stays empty and it asks nobody else."""
    url, _ = service
    await tab.look()
    await tab.open("about:blank")
    tab.console_errors.clear()
    tab.requests.clear()
    await tab.open(url)
    await tab.wait_until("document.getElementById('foot').textContent")
    yield tab
    assert tab.console_errors == []
    assert [one for one in tab.requests if not one.startswith((url, "blob:", "data:", "about:"))] == []


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The source of axe-core, from npm."""
    folder = tmp_path_factory.mktemp("axe")
    try:
        command = ["npm", "pack", "--silent", "axe-core@4"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"axe-core cannot be had from npm here: {type(error).__name__}")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()
