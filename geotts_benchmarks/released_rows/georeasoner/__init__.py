"""GeoReasoner: the rewards of its training."""
