"""Arcs of a topology: parts of outlines that neighbouring shapes share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

Line = npt.NDArray[np.float64]
"""(n, 2): longitude and latitude in degrees."""


def join_arcs(arcs: Sequence[Line], numbers: Iterable[int]) -> Line:
    """One line through arcs, continuous across the antimeridian. The number ~n stands for arc n backwards."""
    return unwrap_longitudes(np.concatenate([arcs[n] if n >= 0 else arcs[~n][::-1] for n in numbers]))


def unwrap_longitudes(line: Line) -> Line:
    """Continuous across the antimeridian: longitudes may leave -180…180."""
    return np.stack([np.unwrap(line[:, 0], period=360.0), line[:, 1]], axis=1)
