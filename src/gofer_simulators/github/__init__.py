"""The simulated GitHub: the REST API and signed webhooks over repositories in memory."""
