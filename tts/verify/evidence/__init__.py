"""What supports a claim and what speaks against it: the evidence ledger and its checks."""
