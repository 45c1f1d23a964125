"""The source of schedules: the event of a nominal time."""
