"""Evidence bundles: everything behind an answer in one canonical zip that anybody can check (ADR 0037)."""
