"""The rollouts of one request: which of them continue, which are stopped, and when more are started."""
