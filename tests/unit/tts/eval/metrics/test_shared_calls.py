"""How many of their first calls rollouts have in common."""

from tts.domain.tooling import ToolCall
from tts.domain.trajectory import Trajectory, Turn
from tts.eval.metrics.shared_calls import shared_calls


def rollout(number, *turns):
    made = tuple(
        Turn(
            index=i,
            calls=tuple(ToolCall(id=f"{number}{i}{j}", name="search", arguments=a) for j, a in enumerate(calls)),
        )
        for i, calls in enumerate(turns)
    )
    return Trajectory(rollout_id=number, turns=made)


A = {"query": "a"}
B = {"query": "b", "country": "PL"}
C = {"query": "c"}


def test_a_call_is_shared_if_a_sibling_makes_it_in_its_first_two_turns():
    assert shared_calls([rollout(0, [A], [B]), rollout(1, [B], [C])]) == (2, 4)
    assert shared_calls([rollout(0, [A], [B]), rollout(1, [B], [C])], turns=1) == (0, 2)
    assert shared_calls([rollout(0, [A], [B]), rollout(1, [C], [], [A])]) == (0, 3)


def test_calls_are_shared_whatever_their_ids_and_the_order_of_their_arguments():
    turned = {"country": "PL", "query": "b"}
    assert shared_calls([rollout(0, [B]), rollout(1, [turned])]) == (2, 2)


def test_a_call_that_one_rollout_repeats_is_not_shared():
    assert shared_calls([rollout(0, [A], [A]), rollout(1, [C])]) == (0, 2)


def test_rollouts_without_calls_share_no_calls():
    assert shared_calls([]) == (0, 0)
    assert shared_calls([rollout(0), rollout(1, [])]) == (0, 0)
