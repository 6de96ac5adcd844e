"""REVERSE: tools and turns of its evaluation (`eval`) and of its training (`rl`)."""
