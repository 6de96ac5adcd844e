"""The verifier without a model: votes, clusters, calibrated radii."""
