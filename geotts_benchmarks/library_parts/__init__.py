"""Parts of the library, each by itself: gazetteer, reading of signs, maps, the broker of tools, scoring."""
