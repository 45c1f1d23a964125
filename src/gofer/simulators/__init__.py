"""What does the outside world look like when no account is at hand?

Slack, Jira, Notion, GitHub, the web and a model as small real HTTP servers with state, in the vendors' own
wire formats. Imports nothing of ours but `errors` and `model_script`; no tool knows it talks to these.
"""
