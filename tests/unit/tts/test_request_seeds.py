"""Seeds: the caller's, else the photo's; each rollout has its own, and all are the same in every process."""

from dataclasses import replace

from support.basics import a_request

from tts.request_seeds import request_seed, rollout_seed


def test_the_seed_of_the_caller_comes_before_that_of_the_photo(sign_photo):
    request = a_request(sign_photo)
    assert request_seed(request) == int(sign_photo.sha256[:7], 16)
    assert request_seed(replace(request, options=request.options.model_copy(update={"seed": 0}))) == 0


def test_each_rollout_has_a_seed_of_its_own():
    seeds = [rollout_seed(2**31 - 1, rollout_id) for rollout_id in range(32)]
    assert len(set(seeds)) == 32
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert (rollout_seed(1, 0), rollout_seed(1, 3)) == (7919, 7919 + 3 * 104729)
