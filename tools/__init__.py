"""The toolbox of GeoTTS: one kind of tool in each file; `registry` has all of them in one table."""
