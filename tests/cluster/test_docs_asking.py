"""Documentation that asks a service: its shell, Python and requests run as written, while the command in the header of
`ray_configs/local.yaml` serves.

Blocks run in the order of their document, in one folder. `tests/unit/repository/test_docs_blocks.py` finds blocks that
are neither run nor marked.
"""

import pytest
from support.docs_places import ASKING, SERVING, reading

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def reader(tmp_path_factory, data_store):
    with reading(tmp_path_factory) as reader, reader.serving(SERVING.text):
        yield reader


@pytest.mark.parametrize("block", ASKING, ids=str)
def test_a_block_that_asks_a_service_runs_as_written(reader, block):
    reader.run(block)
