"""HTTP for everything that leaves the machine: addresses are checked, replies are bounded, keys stay secret."""
