"""Values go from process to process by pickle, and are added and copied there."""

import copy
import pickle

import pytest

from geotts_client.events import Accepted, PhotoInfo, TurnFinished
from geotts_client.plan import Depth
from geotts_client.usage import Usage

VALUES = [
    Usage(turns=2, gpu_s=0.5),
    TurnFinished(rollout_id=1, turn=0, usage=Usage(turns=1)),
    Accepted(
        request_id="loc_1",
        photos=(PhotoInfo(sha256="a", source_sha256="b", width=1, height=2),),
        n_parallel=4,
        depth=Depth.AUTO,
    ),
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("duplicate", [lambda value: pickle.loads(pickle.dumps(value)), copy.copy, copy.deepcopy])
def test_a_value_is_the_same_in_another_process(value, duplicate):
    again = duplicate(value)
    assert again == value
    assert again.model_fields_set == value.model_fields_set
    assert again.json_bytes() == value.json_bytes()
    assert hash(again) == hash(value)
    assert again.model_copy(update={}) == value
    with pytest.raises(ValueError, match="frozen"):
        setattr(again, next(iter(type(value).model_fields)), None)


def test_a_sum_that_begins_with_nothing_is_the_sum_of_the_rest():
    used = Usage(turns=1, prompt_tokens=5)
    assert sum([used, Usage(), used], Usage()) == Usage(turns=2, prompt_tokens=10)
    assert Usage() + Usage() == Usage()
