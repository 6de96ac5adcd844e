"""GeoVista: tools and turns of its evaluation."""
