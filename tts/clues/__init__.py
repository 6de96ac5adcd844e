"""What lines of text say about countries and places, and the belief that they add up to (`docs/clues.md`)."""
