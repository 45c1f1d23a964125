"""The simulated Notion: the API, webhooks and the actions of people, over one workspace in memory."""
