"""Makes the parts of the system from a configuration, in one process or behind Serve."""
