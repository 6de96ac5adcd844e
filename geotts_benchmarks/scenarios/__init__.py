"""Scenarios of `tts.eval.synthetic` for benchmarks: their tools, and how often a verifier is right about them."""
