"""Values that every room uses: errors, canonical JSON, events, messages, schedules, secrets and the outside world."""
