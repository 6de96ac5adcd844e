"""`gateway.max_precision`: what the gateway publishes, and which requests are refused because they would reveal more.

Everything that callers get is read from the event log. Events are made coarse before they are written there, and files
that tools made are not kept. With small areas of their own, callers could find the place, so areas and claims must be
units.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from deployments.gateway.precision.coarse_events import coarse_events
from deployments.gateway.precision.units import Precision, Units
from deployments.gateway.wrong_field import wrong_field
from tts.domain.claim import ClaimedPlace
from tts.domain.events import Event
from tts.domain.geo import Countries as CountrySet
from tts.domain.request import LocateOptions
from tts.errors import RequestError
from tts.geodata.countries import Countries
from tts.geodata.store import DataStore

_ALLOWED_KINDS: dict[Precision, frozenset[str]] = {
    "city": frozenset({"country", "region"}),
    "region": frozenset({"country", "region"}),
    "country": frozenset({"country"}),
}


class Coarsening:
    """One per gateway. The gazetteer is opened with the first answer."""

    def __init__(self, precision: Precision, data_dir: str | None) -> None:
        self.precision: Precision = precision
        self._data_dir = data_dir

    @cached_property
    def _units(self) -> Units:
        return Units(DataStore(self._data_dir).gazetteer(), Countries())

    def events(self, events: Sequence[Event]) -> list[Event]:
        """Those that may leave, as they may leave."""
        return list(coarse_events(events, self.precision, self._units))

    def refuse_fine(
        self, options: LocateOptions, claimed: Sequence[ClaimedPlace], photos: int, *, continues: bool
    ) -> None:
        """Raises RequestError where the answer to a question about so many `photos` would be finer than a unit, or
        where many such questions would find a finer place.

        `continues`: the request continues another, whose answer may be ruled out.
        """
        if (options.hint or "").strip():
            raise self._refusal("hint", "no hint or fact is accepted")
        if photos > 1 and self.precision != "city":  # one of a known town shows whether another is 150 km from it
            raise self._refusal("image", "send one photo in each request")
        if options.within is not None and not isinstance(options.within, CountrySet):
            raise self._refusal("within", "name countries")
        for name in ("within_km", "max_speed_kmh"):
            if getattr(options, name) is not None:  # a photo of a known place, moved, would find the other
                raise self._refusal(name, "photos of a walk are not accepted")
        self._refuse_places("claim", claimed, towns=self.precision == "city")
        ruled_out = [place for place in options.not_there if isinstance(place, ClaimedPlace)]
        if continues:  # the earlier answer has no words of a caller
            ruled_out = [place for place in ruled_out if place.claim]
        # to rule out one town after the other would show where in its town a photo was taken
        self._refuse_places("not_there", ruled_out, towns=False)

    def _refuse_places(self, name: str, places: Sequence[ClaimedPlace], *, towns: bool) -> None:
        """Refuse all but countries and regions with their own borders, and `towns` if they may be named."""
        for number, place in enumerate(places):
            wide = place.kind in _ALLOWED_KINDS[self.precision] and all(
                isinstance(area, CountrySet) for area in place.areas
            )
            if wide or (towns and place.kind == "town"):
                continue
            allowed = ("town, " if towns else "") + ("country" if self.precision == "country" else "region or country")
            field = name if len(places) == 1 else f"{name}.{number}"
            raise self._refusal(field, f"name a {allowed}")

    def _refusal(self, field: str, what_to_do: str) -> RequestError:
        return wrong_field(field, f"answers are no finer than the {self.precision} here: {what_to_do}")
