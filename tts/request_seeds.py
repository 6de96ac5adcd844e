"""The seeds of a request and of its rollouts. The same request with the same seed gives the same answer."""

from __future__ import annotations

from tts.domain.request import LocateRequest


def request_seed(request: LocateRequest) -> int:
    """The seed that the caller set, else one from the hash of the first photo: the same photo, the same answer."""
    seed = request.options.seed
    return int(request.photos[0].sha256[:7], 16) if seed is None else seed


def rollout_seed(seed: int, rollout_id: int) -> int:
    """The seed of a rollout, in [0, 2^31), from the seed of its request."""
    return (seed * 7919 + rollout_id * 104729) % 2**31
