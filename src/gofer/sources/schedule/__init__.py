"""Schedules as a source: the event of a nominal time."""
