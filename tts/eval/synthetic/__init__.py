"""Synthetic trajectories with known true places, made from real towns without a model, to test verifiers."""
