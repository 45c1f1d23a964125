"""The source Jira: receives deliveries, reads issues as text, writes each issue and comment exactly once."""
