"""The simulated Jira: one site with Cloud's REST API and an admin webhook, on request with Data Center's bodies."""
