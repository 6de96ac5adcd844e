"""Claims about drawn scenes, and how well a check tells true ones from false ones."""
