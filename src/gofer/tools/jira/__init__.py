"""Jira, as runs see it: issues found and read as text, created, commented on and moved, each written once."""
