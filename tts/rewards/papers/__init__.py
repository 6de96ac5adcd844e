"""Rewards as the papers state them, one system in each file; `tts/rewards/released` has those of the authors' code."""
