"""What people look at: the answer's map and a self-contained HTML report."""
