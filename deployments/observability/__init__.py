"""Metrics and the audit log of requests."""
