"""The simulated Notion: the API, webhooks and people who act, over one workspace in memory."""

from gofer.simulators.notion.ask import NotionRefusal
from gofer.simulators.notion.delivery import Pace
from gofer.simulators.notion.simulator import NotionSimulator

__all__ = ["NotionRefusal", "NotionSimulator", "Pace"]
