"""Thinking with Map: tools and turns, of the training loop and of the notebook."""
