"""Computes how many replicas of a model fit on the GPUs, and how many parallel requests each can hold."""
