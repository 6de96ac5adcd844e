"""The method card: what a run shows about its method, in one page (`docs/method-card.md`)."""
