"""Whether the served code does what the authors' code does, row by row of a corpus of their inputs and outputs."""
