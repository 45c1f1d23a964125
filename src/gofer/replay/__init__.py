"""Replay: the engine runs a recorded journal again, and nothing outside is called."""
