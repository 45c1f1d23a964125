"""Backup and restore of the embedded state."""
