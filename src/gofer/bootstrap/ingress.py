"""How is the front put together, from the lightest parts only?

What is imported here is on the way of every cold start to its first 2xx: no engine, models, tools, files, pydantic.
"""

from gofer.bootstrap.settings import Settings
from gofer.dispatch import Ingress
from gofer.journal.store import Store
from gofer.outside import Outside
from gofer.queue.doorbell import Queue
from gofer.secret import Secret
from gofer.triggers import slack_actions
from gofer.triggers.door import Door
from gofer.triggers.slack import SlackDoor
from gofer.workflows.routes import read_routes


def build_ingress(
    settings: Settings, routes: object, store: Store, queue: Queue, key: Secret, outside: Outside
) -> Ingress:
    """The front over given stores; a source without a secret has no door."""
    doors: dict[str, Door] = {}
    if settings.slack_signing_secrets:
        doors["/slack/events"] = SlackDoor(settings.slack_signing_secrets)
        doors[slack_actions.PATH] = slack_actions.SlackActionsDoor(settings.slack_signing_secrets)
    return Ingress(doors, read_routes(routes), store, queue, key, outside)
