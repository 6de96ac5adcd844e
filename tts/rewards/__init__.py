"""Rewards of the systems whose models are served here, pure functions of one trajectory's facts.

They judge runs the way their authors trained, so a trajectory can be filtered, compared or trained on again. Distances
are in km; a missing point is None and earns nothing for place. One system a file.
"""
