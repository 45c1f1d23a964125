"""Schedules: when is something to happen, in Amazon's cron fields, by intervals, or once? Pure functions of time."""
