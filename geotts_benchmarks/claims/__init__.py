"""What becomes of claims about a photo, and of facts that a continued request gets."""
