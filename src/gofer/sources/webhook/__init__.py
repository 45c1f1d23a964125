"""Webhooks: verifies callers of `/hooks/<name>` and translates their calls."""
