"""The answer of a model, unconverted: its point may be in the datum of the maps of its training."""

from __future__ import annotations

from geotts_client.hypothesis import Located
from tts.domain.hypothesis import Hypothesis
from tts.geodata.datum import as_wgs84


class StatedAnswer(Located):
    """An answer before `Dialect.to_hypothesis` makes a `Hypothesis` of it, or an abstention when `point` is None."""

    def hypothesis(self) -> Hypothesis:
        """The same in WGS-84."""
        fields = {name: getattr(self, name) for name in type(self).model_fields if name not in ("point", "datum")}
        return Hypothesis(point=None if self.point is None else as_wgs84(self.point, self.datum), **fields)
