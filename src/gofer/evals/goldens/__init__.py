"""Goldens: recorded runs without the words that name people or the company, as cases that can be played again."""
