"""A claim about the place of a photo: the probability that it is true, and the evidence for and against it."""
