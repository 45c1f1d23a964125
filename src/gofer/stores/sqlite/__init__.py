"""Stores in one SQLite file, with bodies and keys in files beside it."""
