"""The implementations of the `Verifier` port: by consensus, by a model, and wrappers around another verifier."""
