"""Tools over the run's own files."""
