"""The promotion of a workflow: from runs that a model decided to a script that repeats them."""
