"""Slack, Jira, Notion, GitHub and a model as small real HTTP servers with state, in the vendors' own wire formats.

The simulators import only `gofer.values`. Gofer's tools use them exactly as they use the vendors.
"""
