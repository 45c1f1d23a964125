"""The source of webhooks: verifies callers of `/hooks/<name>` and translates their calls."""
