"""Which photos of known position look like a photo. What an operator brings; nothing ships (docs/dialects.md)."""
