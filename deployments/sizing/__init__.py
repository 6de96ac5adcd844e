"""Which model fits on which GPUs, how often, and with how many requests side by side."""
