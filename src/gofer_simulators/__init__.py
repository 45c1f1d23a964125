"""Slack, Jira, Notion, GitHub and a model as small real HTTP servers with state, in the vendors' own wire formats.

The simulators import only `gofer.values`. No tool can tell them from the vendors.
"""
