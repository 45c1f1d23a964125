"""Sources: one folder for each external system, with everything that Gofer knows about that system."""
