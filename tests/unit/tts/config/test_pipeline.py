"""What the configuration of the pipeline decides by itself."""

import pytest

from tts.config import OpenAIEngine, PipelineConfig


def test_the_default_routing_method_follows_from_the_engine():
    assert PipelineConfig().routing_method == "cues"
    assert PipelineConfig(engine=OpenAIEngine()).routing_method == "leader"
    assert PipelineConfig(engine=OpenAIEngine(sees_pictures=False)).routing_method == "cues"
    with pytest.raises(ValueError, match="needs an engine that sees pictures"):
        PipelineConfig(routing={"method": "leader"})
