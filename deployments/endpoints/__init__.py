"""Checks the endpoints of models: whether they answer, which models they list, whether key and price are known."""
