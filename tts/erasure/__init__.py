"""Erases what was written about a request or a photo from files, and remembers what was erased."""
