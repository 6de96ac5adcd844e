"""Finds photos of known position that look like a photo. The operator supplies them; GeoTTS ships none
(docs/dialects.md)."""
