"""The checks of a run, and the names that its arguments may contain."""
