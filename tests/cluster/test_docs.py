"""What the documentation shows is run: shell, Python and requests as written, configurations through `serve deploy`.

Blocks run in the order of their document, in one folder. Documents that ask a service come first, while one serves;
then those that start their own. `tests/unit/test_docs_blocks.py` finds blocks that are neither run nor marked.
"""

import os
import subprocess
from contextlib import ExitStack

import pytest
from docs_blocks import ROOT, blocks_of, documents
from docs_runner import SERVICE, Reader, deploy_config
from namespaces import machines, why_not
from ray_nodes import ray_cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]
_BLOCKS = [block for path in documents() for block in blocks_of(path) if not block.shown_only]
_ASKING = {
    block.file for block in _BLOCKS if block.language == "json" or SERVICE in block.text or block.file.endswith(".py")
} - {block.file for block in _BLOCKS if "geotts serve" in block.text}
RUN = sorted((b for b in _BLOCKS if b.language != "yaml"), key=lambda b: (b.file not in _ASKING, b.file, b.line))
CONFIGS = [block for block in _BLOCKS if block.language == "yaml"]


class Here:
    """This machine, where namespaces cannot be made."""

    def start(self, *command, **options):
        return subprocess.Popen(list(map(str, command)), **self._with_env(options))

    def run(self, *command, **options):
        how = {"capture_output": True, "text": True, "timeout": 120, **self._with_env(options)}
        return subprocess.run(list(map(str, command)), check=False, **how)

    def _with_env(self, options):
        """With the token of Ray that the tests have, and with a home folder."""
        return {**options, "env": {**os.environ, **options.get("env", {})}}


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Two machines of their own for the ports that the documentation names; this one where that cannot be."""
    if why_not():
        yield [Here()]
        return
    token = tmp_path_factory.mktemp("ray") / "token"
    token.write_text("a-token-of-the-tests-and-of-nobody-else")
    with machines(2, environment={"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}) as made:
        yield made


@pytest.fixture(scope="module")
def reader(places, tmp_path_factory, data_store):
    return Reader(places[0], tmp_path_factory.mktemp("docs"), ROOT / "tests" / "fixtures" / "docs")


@pytest.fixture(scope="module")
def standing(reader):
    """`geotts serve` as it comes, for as long as documents ask it: called with False, it ends."""
    with ExitStack() as stack:
        running = []

        def need(wanted):
            if wanted and not running:
                running.append(stack.enter_context(reader.serving("geotts serve")))
            elif not wanted:
                stack.close()
                running.clear()

        yield need


@pytest.mark.parametrize("block", RUN, ids=str)
def test_a_block_runs_as_written(reader, standing, block):
    standing(block.file in _ASKING)
    reader.run(block)


@pytest.fixture(scope="module")
def operator(places, tmp_path_factory, data_store):
    """A reader beside a running Ray, as on the head of a cluster."""
    if len(places) < 2:
        pytest.skip(why_not())
    reader = Reader(places[1], tmp_path_factory.mktemp("configs"), ROOT / "tests" / "fixtures" / "docs")
    with ray_cluster([places[1]], num_cpus=16, environment=reader.environment, cwd=reader.folder):
        yield reader


@pytest.mark.parametrize("block", CONFIGS, ids=str)
def test_a_configuration_is_deployed(operator, block):
    deploy_config(operator, block)
