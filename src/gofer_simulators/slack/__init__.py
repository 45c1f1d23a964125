"""The simulated Slack: the Web API, the Events API and a page for people, over one workspace in memory."""
