"""What does Notion know, answer and send?

The API, webhooks and people who act, over one workspace in memory. Written after the vendor's wire formats; nothing of
ours but errors and the room's own values is imported.
"""

from gofer.simulators.notion.ask import NotionRefusal
from gofer.simulators.notion.delivery import Pace
from gofer.simulators.notion.simulator import NotionSimulator

__all__ = ["NotionRefusal", "NotionSimulator", "Pace"]
