"""The values that every part of the service shares, all frozen; those of the client are re-exported here."""
