"""What is measured and written down about requests: metrics and the audit log."""
