"""GeoVista: tools and turns of its evaluation, and rewards of its training."""
