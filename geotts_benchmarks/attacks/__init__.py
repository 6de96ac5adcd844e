"""What clients and hosts that misbehave do to everybody else."""
