"""Documentation that starts its own services, or needs none: its shell and Python run as written.

Blocks run in the order of their document, in one folder.
"""

import pytest
from support.docs_places import OTHERS, reading

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def reader(tmp_path_factory, data_store):
    with reading(tmp_path_factory) as reader:
        yield reader


@pytest.mark.parametrize("block", OTHERS, ids=str)
def test_a_block_of_commands_or_python_runs_as_written(reader, block):
    reader.run(block)
