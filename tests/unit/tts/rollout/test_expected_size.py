"""What a rollout will take of a KV cache is learned from those that ended."""

from tts.domain.answer import StopReason
from tts.domain.events import RolloutFinished, RolloutResumed, TurnFinished
from tts.domain.plan import Limits
from tts.domain.usage import Usage
from tts.rollout.expected_size import ExpectedSize


def a_rollout(i, prompts, written):
    """The items of a rollout whose turns read `prompts` and wrote `written` tokens each; usage adds up."""
    usage = Usage()
    items = []
    for turn, prompt in enumerate(prompts):
        usage += Usage(turns=1, prompt_tokens=prompt, completion_tokens=written)
        items.append(TurnFinished(rollout_id=i, turn=turn, usage=usage))
    return [*items, RolloutFinished(rollout_id=i, stop_reason=StopReason.ANSWERED, usage=usage)]


def learn_size(*rollouts, photos=1):
    expected = ExpectedSize()
    group = expected.follow(photos)
    for items in rollouts:
        group.observe(items)
    return expected


def test_before_any_rollout_ended_the_usual_deep_one_is_expected():
    size = ExpectedSize().size_of(1, Limits())
    assert (size.shared_tokens, size.own_tokens) == (3500, 4 * 875)


def test_the_first_prompt_counts_as_shared_and_the_growth_as_own_to_a_rollout():
    size = learn_size(a_rollout(0, [1000, 1300, 1600], 100)).size_of(1, Limits())
    assert (size.shared_tokens, size.own_tokens) == (1000, 1600 + 100 - 1000)


def test_sizes_are_learned_from_interleaved_rollouts_of_a_group():
    first, second = a_rollout(0, [1000, 1200], 50), a_rollout(1, [1000, 1400], 50)
    mixed = [item for pair in zip(first, second, strict=True) for item in pair]
    size = learn_size(mixed).size_of(1, Limits())
    assert (size.shared_tokens, size.own_tokens) == (1000, round((250 + 450) / 2))


def test_fewer_turns_are_expected_where_fewer_are_allowed():
    expected = learn_size(a_rollout(0, [1000, 1300, 1600, 1900], 100))
    assert expected.size_of(1, Limits(max_turns=1)).own_tokens == expected.size_of(1, Limits()).own_tokens // 4


def test_more_photos_are_a_longer_prompt():
    assert learn_size(a_rollout(0, [4000], 100), photos=2).size_of(1, Limits()).shared_tokens == 2000


def test_the_expected_size_follows_a_model_that_changes():
    size = learn_size(*[a_rollout(i, [1000], 50) for i in range(40)], *[a_rollout(i, [9000], 50) for i in range(200)])
    assert 8900 < size.size_of(1, Limits()).shared_tokens <= 9000


def test_a_resumed_or_failed_rollout_does_not_change_the_expected_size():
    resumed = [RolloutResumed(rollout_id=0, from_turn=1), *a_rollout(0, [9000, 9500], 100)]
    failed = [RolloutFinished(rollout_id=1, stop_reason=StopReason.FAILED)]
    assert learn_size(resumed, failed).size_of(1, Limits()) == ExpectedSize().size_of(1, Limits())
