"""Workflows: the YAML and Markdown people edit. `routes` is for ingress and imports neither pydantic nor YAML."""
