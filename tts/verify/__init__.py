"""From trajectories to an answer: evidence, consensus, and the opinion of a model."""
