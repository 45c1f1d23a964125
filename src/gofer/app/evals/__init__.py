"""Plays of eval cases: the same worker, engine and journal as every run, in a world that repeats itself."""
