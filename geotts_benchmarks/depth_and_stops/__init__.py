"""What less thinking saves, and what it costs: depths, leaders, stop policies."""
