"""Gofer's own pages: runs, traces, prompts and schedules, and the sign-in before them."""
