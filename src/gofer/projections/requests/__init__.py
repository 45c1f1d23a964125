"""The requests of a run to its models: their bytes, their tokens and their context."""
