"""Schedules: pure functions of time over the cron fields of EventBridge, intervals and single times."""
