"""Suggestions: what the recorded runs of a workflow lacked, and an edit of a prompt or a skill that replays prove."""
