"""What tests share: servers that play a part, made photographs, clusters, and small helpers."""
