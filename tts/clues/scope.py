"""A part of the world that a caller names, and how well the text of the photo fits it.

A constraint and a hint are statements of the caller, never evidence. The text of the photo is weighed without
them. The photo agrees if the belief has more of its mass inside the part than the prior has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tts.clues.belief import Belief
from tts.clues.priors import Priors
from tts.clues.ruled_out_places import Mask, inside_box
from tts.decision_weights import weights
from tts.domain.geo import DEGREE_KM, Area, BBox, Circle, Countries, Floats, sphere_km_from_degrees

_W = weights("caller")
_EDGE_KM = _W["area_edge_km"]
_EDGE_DEG = _EDGE_KM / DEGREE_KM
_MIN_PRIOR = 1e-6
_MAX_CONTRADICTING_RATIO = _W["against_ratio"]
_MAX_CONTRADICTING_SHARE = _W["against_share"]
_MIN_SUPPORTING_SHARE = _W["for_share"]
_MIN_SHARE_ELSEWHERE = _W["sure_share"]  # of a place elsewhere
_ELSEWHERE_KM = _W["sure_km"]


@dataclass(frozen=True, slots=True)
class Fit:
    """`share` in [0, 1] of the belief that lies in a scope, its `ratio` to the share before anything was read, and
    whether the belief is sure of a place `elsewhere`."""

    share: float
    ratio: float
    elsewhere: bool

    @property
    def contradicts(self) -> bool:
        """What was read speaks against the scope."""
        return self.elsewhere or (self.share < _MAX_CONTRADICTING_SHARE and self.ratio < _MAX_CONTRADICTING_RATIO)

    @property
    def agrees(self) -> bool:
        """What was read leads into the scope by itself."""
        return self.share >= _MIN_SUPPORTING_SHARE


@dataclass(frozen=True, slots=True)
class Scope:
    """Whole countries, or discs and boxes. Discs and boxes are taken 30 km wider than they are stated."""

    codes: frozenset[str] = frozenset()
    discs: tuple[Circle, ...] = ()
    boxes: tuple[BBox, ...] = ()

    def fit(self, belief: Belief, priors: Priors) -> Fit:
        """How far a belief that knows nothing of this scope fits it."""
        share = self._belief_share(belief)
        point, _ = belief.best_point()
        elsewhere = share < 1.0 - _MIN_SHARE_ELSEWHERE and belief.mass(point, _ELSEWHERE_KM) >= _MIN_SHARE_ELSEWHERE
        return Fit(share, share / max(_MIN_PRIOR, self._prior_share(priors)), elsewhere)

    def _belief_share(self, belief: Belief) -> float:
        if self.codes:
            return sum(belief.countries.get(code, 0.0) for code in self.codes)
        inside = self._coverage_mask(belief.lat, belief.lon)
        return float(belief.share[inside].sum() / max(1e-12, float(belief.share.sum())))

    def _prior_share(self, priors: Priors) -> float:
        if self.codes:
            return sum(priors.country_share(code) for code in self.codes)
        lat, lon, share = priors.all_towns
        return float(share[self._coverage_mask(lat, lon)].sum())

    def _coverage_mask(self, lat: Floats, lon: Floats) -> Mask:
        masks = [sphere_km_from_degrees(disc.centre, lat, lon) <= disc.radius_km + _EDGE_KM for disc in self.discs]
        masks += [inside_box(box, lat, lon, edge_deg=_EDGE_DEG) for box in self.boxes]
        return np.logical_or.reduce(masks) if masks else np.zeros(len(lat), dtype=np.bool_)


def scope_of(area: Area) -> Scope:
    """The scope of a caller's area."""
    if isinstance(area, Countries):
        return Scope(codes=frozenset(area.codes))
    if isinstance(area, Circle):
        return Scope(discs=(area,))
    return Scope(boxes=(area,))
