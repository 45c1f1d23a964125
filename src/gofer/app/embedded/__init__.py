"""The embedded stack: one process on SQLite, with an HTTP server and Socket Mode."""
