"""The simulated Notion: the API, webhooks and the actions of people, over one workspace in memory."""

from gofer_simulators.notion.api_request import NotionRefusal
from gofer_simulators.notion.delivery import Pace
from gofer_simulators.notion.simulator import NotionSimulator

__all__ = ["NotionRefusal", "NotionSimulator", "Pace"]
