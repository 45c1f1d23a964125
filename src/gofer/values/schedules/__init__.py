"""Schedules: pure functions of time over Amazon's cron fields, intervals and single times."""
