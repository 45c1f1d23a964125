"""The simulated Jira: the REST API of Cloud and admin webhooks over one site; Data Center's bodies on request."""

from gofer_simulators.jira.delivery import Pace
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.jira.site import Comment, Issue, JiraRefusal, Site, User

__all__ = ["Comment", "Issue", "JiraRefusal", "JiraSimulator", "Pace", "Site", "User"]
