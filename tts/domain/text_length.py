"""How many characters of text a token has on average, where no tokenizer is at hand."""

from __future__ import annotations

LATIN_CHARS_A_TOKEN = 4
"""Prose in Latin letters, with the Qwen3 tokenizer."""
MIXED_CHARS_A_TOKEN = 3.2
"""Transcripts with numbers, addresses and names in other scripts: low, so that a prompt rather has room left."""
