"""The simulated Jira: one site with Cloud's REST API and an admin webhook, on request with Data Center's bodies."""

from gofer_simulators.jira.delivery import Pace
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.jira.site import Comment, Issue, JiraRefusal, Site, User

__all__ = ["Comment", "Issue", "JiraRefusal", "JiraSimulator", "Pace", "Site", "User"]
