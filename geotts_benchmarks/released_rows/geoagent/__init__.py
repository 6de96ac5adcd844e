"""GeoAgent: tools, turns and rewards of its evaluation."""
