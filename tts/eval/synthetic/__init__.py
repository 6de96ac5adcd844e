"""Sets of trajectories with known truth, made from real places: what a verifier must see through. No model in it."""
