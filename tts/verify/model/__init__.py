"""Verifiers with a model, and the consistency agent."""
