"""GeoTTS: test-time scaling for photo geolocation. Start reading in `tts.pipeline`."""
