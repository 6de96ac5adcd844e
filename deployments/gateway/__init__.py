"""What happens to a request between its HTTP handler and the rollouts: admission, its run, its readers."""
