"""Doorbells: at least once, unordered, a run id and nothing else. Knows nothing of what a run is."""
