"""The time that the service adds to the time of its engine, and the requests that it carries."""
