"""Rollouts on a real vLLM, with models of random weights: throughput, shared prompts, what only a GPU can show."""
