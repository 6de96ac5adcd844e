"""What a request takes in a run store, and what readers get when the store fails."""
