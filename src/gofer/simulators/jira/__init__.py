"""What does Jira know, answer and send?

The REST API of Jira Cloud and its admin webhooks over one site in memory, Data Center's bodies on request. Written
after the vendor's wire formats; nothing of ours but errors and the room's own values is imported.
"""

from gofer.simulators.jira.delivery import Pace
from gofer.simulators.jira.simulator import JiraSimulator
from gofer.simulators.jira.site import Comment, Issue, JiraRefusal, Site, User

__all__ = ["Comment", "Issue", "JiraRefusal", "JiraSimulator", "Pace", "Site", "User"]
