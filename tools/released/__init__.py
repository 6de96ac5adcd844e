"""Tools as the authors' systems have them: arguments as written, texts to the character, providers by name."""
