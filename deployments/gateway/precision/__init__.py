"""Answers no finer than a city, a region or a country, for operators who must not locate people's homes."""
