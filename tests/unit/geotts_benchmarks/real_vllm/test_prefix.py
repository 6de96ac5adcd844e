"""How many prompt tokens a prefix cache could have served, at best."""

from geotts_benchmarks.real_vllm.engine_runs import GroupMeasurement, Turn
from geotts_benchmarks.real_vllm.prefix import ideal_cached
from tts.domain.usage import Usage


def test_the_ideal_cache_counts_whole_blocks_that_were_computed_before():
    def turn(session, prompt, completion):
        return Turn(session, Usage(prompt_tokens=prompt, completion_tokens=completion))

    turns = (turn("a/0", 100, 20), turn("a/1", 100, 20), turn("a/0", 160, 5), turn("a/1", 96, 1))
    # nothing; 99 of the leader's prompt; 119 of its own past; 95, its whole prompt but one token
    assert ideal_cached(GroupMeasurement(1.0, turns), 16) == 0 + 96 + 112 + 80
