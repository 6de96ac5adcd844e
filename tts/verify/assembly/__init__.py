"""Makes the verdict from clusters or a model's choice: names, radii, level, and the evidence that is shown."""
