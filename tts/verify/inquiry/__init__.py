"""The verifier's own questions: what they are about, what is asked, and what the answers change (ADR 0042)."""
