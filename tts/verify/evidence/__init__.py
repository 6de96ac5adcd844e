"""The evidence for and against claims: the evidence ledger and its checks."""
