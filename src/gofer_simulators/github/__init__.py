"""The simulated GitHub: the REST API and signed webhooks over repositories in memory."""

from gofer_simulators.github.repositories import GitHubRefusal, Issue, Repository
from gofer_simulators.github.simulator import GitHubSimulator

__all__ = ["GitHubRefusal", "GitHubSimulator", "Issue", "Repository"]
