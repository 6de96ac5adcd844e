"""What answers the `Verifier` port: by consensus, by a model, and verifiers that stand in front of another."""
