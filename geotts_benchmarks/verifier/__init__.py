"""What the verifier adds: the consensus, its weights and radii, its own questions."""
