"""How is the front put together, from the lightest parts only?

What is imported here is on the way of every cold start to its first 2xx: no engine, models, tools, files, pydantic.
"""

from dataclasses import replace

from gofer.blobs.store import Bodies
from gofer.bootstrap.doors import doors
from gofer.bootstrap.notion_token import Registering
from gofer.bootstrap.settings import Settings
from gofer.dispatch import Ingress
from gofer.journal.store import Store
from gofer.outside import Outside
from gofer.queue.doorbell import Queue
from gofer.secret import Secret
from gofer.triggers.hook import read_hooks
from gofer.triggers.webhook import JwtProofs, webhook_doors
from gofer.workflows.routes import read_routes


def build_ingress(
    settings: Settings,
    routes: object,
    store: Store,
    blobs: Bodies,
    queue: Queue,
    key: Secret,
    outside: Outside,
    *,
    hooks: object = None,
    jwt: JwtProofs | None = None,
    window: Registering | None = None,
) -> Ingress:
    """The front over given stores; a source without a secret has no door.

    `hooks` is their compiled JSON, `jwt` makes the proofs of those that take JWTs, `window` takes Notion's verification
    token. Raises ConfigError for a hook without a secret.
    """
    found = doors(settings, window) | webhook_doors(read_hooks(hooks, settings.webhook_secrets), jwt)
    ingress = Ingress(found, read_routes(routes), store, blobs, queue, key, outside)
    return replace(ingress, register=window.register) if window else ingress
