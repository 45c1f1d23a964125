"""The source Slack: receives deliveries, reads threads with names instead of ids, writes messages and reactions."""
