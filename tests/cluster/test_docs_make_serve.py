"""`make serve`, as the README names it: the service at the address that the README gives, until Ctrl-C."""

import os
import re
import signal
import subprocess
import time

import orjson
import pytest
from support.basics import ROOT
from support.deployed_files import PHOTO
from support.namespaces import machines
from support.ray_nodes import tool

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]
PAGE = "import httpx, sys; print(httpx.get(sys.argv[1]).raise_for_status().text)"


def test_make_serve_serves_the_page_locates_a_photo_and_ends_on_an_interrupt(tmp_path, data_store):
    """On a machine of its own, whose port 8000 is free. Make is told not to install anything again."""
    log = tmp_path / "log"
    with machines(1) as (machine,), log.open("w") as out:
        make = machine.start("make", "-o", ".venv/.installed", "serve", cwd=ROOT, stdout=out, stderr=out)
        url = wait_until_ready(make, log)
        assert f"This starts the service on {url}." in (ROOT / "README.md").read_text("utf-8")
        assert "<title>" in machine.run(tool("python"), "-c", PAGE, url).stdout
        done = machine.run(tool("geotts"), "locate", PHOTO, "--json", "--url", url, cwd=ROOT)
        assert orjson.loads(done.stdout)["answer"]["lat"] is not None
        os.killpg(make.pid, signal.SIGINT)
        make.wait(90)
        assert machine.processes() == []
    assert "Traceback" not in log.read_text()


def wait_until_ready(make: subprocess.Popen[str], log) -> str:
    give_up = time.monotonic() + 150
    while (found := re.search(r"ready at (\S+)", log.read_text())) is None:
        assert make.poll() is None, log.read_text()
        assert time.monotonic() < give_up, log.read_text()
        time.sleep(0.2)
    return found[1]
