"""Claims about drawn scenes, and how well a check distinguishes true claims from false ones."""
