"""What the shipped profiles send, value by value: sampling, turns and pictures."""
