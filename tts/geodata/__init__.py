"""Places, countries and words from data on this machine: gazetteer, names in every script, country at a point."""
