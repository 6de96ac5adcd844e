"""How locatable the photos of a request are, and the plan that follows from it: depth, rollouts, limits."""
