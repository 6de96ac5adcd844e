"""Dialects as GeoTTS serves them: one model family or published system a file."""
