"""What does GitHub know, answer and send?

The REST API and signed webhooks over some repositories in memory, written after the vendor's wire formats; nothing of
ours but errors and the room's own values is imported.
"""

from gofer.simulators.github.repositories import GitHubRefusal, Issue, Repository
from gofer.simulators.github.simulator import GitHubSimulator

__all__ = ["GitHubRefusal", "GitHubSimulator", "Issue", "Repository"]
