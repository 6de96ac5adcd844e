"""From clusters or a model's choice to the verdict: names, radii, level, and the evidence that is shown."""
