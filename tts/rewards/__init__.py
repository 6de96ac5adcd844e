"""Rewards of the systems whose models are served here, pure functions of one trajectory's facts.

`papers` has them as the papers state them, `released` as the authors' code computes them. They judge runs the way
their authors trained, so a trajectory can be filtered, compared or trained on again. Distances are in km. A missing
point is None and earns nothing for place.
"""
