"""The verifier's own questions: their candidates, their tool calls, and their effect on the votes (ADR 0042)."""
