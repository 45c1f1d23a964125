"""Workflows and skills that a repository does not have yet, found in recorded runs and in prompts."""
