import logging
import pickle

import pytest

from tts import errors
from tts.errors import (
    FatalError,
    GeoTTSError,
    ModelError,
    Overloaded,
    PhotoError,
    RolloutError,
    ToolError,
    ToolErrorKind,
    boundary,
)


def all_errors():
    return [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, GeoTTSError)]


@pytest.mark.parametrize("kind", all_errors(), ids=lambda kind: kind.__name__)
def test_every_error_survives_pickling(kind):
    back = pickle.loads(pickle.dumps(kind("what to do")))
    assert type(back) is kind
    assert back.detail == "what to do"


def test_fields_survive_pickling_too():
    photo = pickle.loads(pickle.dumps(PhotoError.from_reason("empty", "no bytes", 413)))
    assert (photo.status, photo.fields["reason"]) == (413, "empty")
    assert pickle.loads(pickle.dumps(Overloaded(retry_after_s=7.5))).retry_after_s == 7.5
    assert pickle.loads(pickle.dumps(ToolError("x", kind=ToolErrorKind.QUOTA))).kind is ToolErrorKind.QUOTA


def test_a_boundary_passes_errors_of_geotts_and_names_only_the_type_of_others(caplog):
    caplog.set_level(logging.ERROR, "tts.errors")  # `geotts serve` silences it, in whatever test ran before
    with pytest.raises(ModelError, match="engine failed: KeyError") as caught, boundary(ModelError, "engine"):
        raise KeyError("api-key-123")
    assert "api-key-123" not in caught.value.detail
    with pytest.raises(FatalError), boundary(RolloutError, "engine"):
        raise FatalError("dead")
    assert "engine failed" in caplog.text


def test_a_boundary_never_touches_cancellation():
    with pytest.raises(KeyboardInterrupt), boundary(RolloutError, "engine"):
        raise KeyboardInterrupt
