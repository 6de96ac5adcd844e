"""The agent loop of a rollout, its budget and its tools, and groups of rollouts that run side by side."""
