"""The tools for the run's files."""
