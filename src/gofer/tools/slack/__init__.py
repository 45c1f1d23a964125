"""Slack, as runs see it: threads read with names instead of ids, messages and reactions written."""
