"""Finds the peaks of a belief: the answer first, then other likely places at a distance from it.

Rollouts that state what they read have a belief over towns, and its peaks are the fullest discs in it. Of other
rollouts it is known what they answered: their clusters are the peaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tts.clues.belief import Belief
from tts.decision_weights import weights
from tts.domain.geo import Floats, LatLon, distance_km, sphere_km_from_degrees
from tts.verify.consensus.clusters import Cluster

_W = weights("peaks")
_MIN_SHARE_OF_ANSWER = _W["least_of_answer"]
_VOTE_DISTANCE_RATIO = _W["votes_apart"]
_LINE_DISTANCE_RATIO = _W["lines_apart"]
_MIN_DISTANCE_KM = _W["least_apart_km"]
_MIN_SHARE = _W["least_share"]
_MAX_PEAKS = int(_W["most"])
_MAX_CENTRES_TRIED = 30  # likely points that are tried as the centre of a peak


@dataclass(frozen=True, slots=True)
class Peak:
    """A place and its share of the votes or of the belief, in [0, 1]."""

    point: LatLon
    share: float


def peaks_of(clusters: Sequence[Cluster], lines: Belief | None, p90_km: float) -> list[Peak]:
    """The answer and other peaks, by falling share. `lines` is the belief from what rollouts state that they read.

    It is left aside where the answer is no place of it: then other rollouts have decided.
    """
    if lines is not None:
        found = _peaks_of_lines(lines, clusters[0].centre, p90_km)
        if found[0].share >= _MIN_SHARE_OF_ANSWER * max(peak.share for peak in found):
            return found
    return _peaks_of_votes(clusters, p90_km)


def _peaks_of_votes(clusters: Sequence[Cluster], p90_km: float) -> list[Peak]:
    first, *others = clusters
    apart = max(_MIN_DISTANCE_KM, _VOTE_DISTANCE_RATIO * p90_km)
    kept = [
        Peak(other.centre, other.support)
        for other in others
        if other.support >= _MIN_SHARE_OF_ANSWER * first.support and distance_km(first.centre, other.centre) > apart
    ]
    return [Peak(first.centre, first.support), *kept][:_MAX_PEAKS]


def _peaks_of_lines(belief: Belief, answer: LatLon, p90_km: float) -> list[Peak]:
    reach = max(_MIN_DISTANCE_KM, _LINE_DISTANCE_RATIO * p90_km)
    share = belief.share / (belief.share.sum() or 1.0)
    peaks = [_take_peak(answer, belief, share, reach)]
    while len(peaks) < _MAX_PEAKS:
        top = np.argsort(-share, kind="stable")[:_MAX_CENTRES_TRIED]
        options = [LatLon(lat=float(belief.lat[i]), lon=float(belief.lon[i])) for i in top]
        masses = [
            float(share[sphere_km_from_degrees(point, belief.lat, belief.lon) <= reach].sum()) for point in options
        ]
        best = int(np.argmax(masses))
        if masses[best] < max(_MIN_SHARE, _MIN_SHARE_OF_ANSWER * peaks[0].share):
            break
        peaks.append(_take_peak(options[best], belief, share, reach))
    return peaks


def _take_peak(point: LatLon, belief: Belief, share: Floats, reach_km: float) -> Peak:
    """The peak at a point; its towns are taken out of `share`, which is changed in place."""
    near = sphere_km_from_degrees(point, belief.lat, belief.lon) <= reach_km
    peak = Peak(point, float(share[near].sum()))
    share[near] = 0.0
    return peak
