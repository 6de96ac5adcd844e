"""The score that the authors of a reader give to what it reads, in [0, 1]; coordinates as written, datums untouched."""

from __future__ import annotations

from tts.domain.geo import LatLon
from tts.eval.answer_parsers import ParserName
from tts.eval.fields import StatedPlace
from tts.rewards.released import reverse_reward, thinking_with_map_reward
from tts.rewards.released.distances import haversine_km
from tts.rewards.released.geoagent_reward import spatial_reward

REWARDED: frozenset[ParserName] = frozenset({"paper", "verifier", "reverse_reward", "geoagent"})


def reward_of(text: str, guess: StatedPlace | None, truth: LatLon, parser: ParserName) -> float:
    """The reward of one row; 0 for readers whose authors score nothing."""
    where = {"lat": truth.lat, "lon": truth.lon}
    match parser:
        case "paper":
            return thinking_with_map_reward.score(thinking_with_map_reward.read_answer(text), where).score
        case "verifier":
            return thinking_with_map_reward.score(thinking_with_map_reward.read_verdict(text), where).score
        case "reverse_reward":
            return reverse_reward.place(text, f"{truth.lat!r}, {truth.lon!r}").place
        case "geoagent":
            if guess is None or guess.point is None:
                return 0.0
            return spatial_reward(haversine_km(guess.point.lat, guess.point.lon, truth.lat, truth.lon))
    return 0.0
