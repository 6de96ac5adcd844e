"""What a tool is, and how calls of tools are run, kept by the broker, recorded and replayed."""
