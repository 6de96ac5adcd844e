"""Replicas of a service on one machine that are added, removed and killed under load."""
