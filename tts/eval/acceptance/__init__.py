"""The acceptance run of a new engine: what goes wrong, what it costs, how good it is, and its calibration."""
