"""The front, put together from the lightest parts only.

What is imported here is on the way of every cold start to its first 2xx: no engine, models, tools, files, pydantic.
"""

from dataclasses import replace

from gofer.app.settings import Settings
from gofer.runtime.receive import Ingress
from gofer.sources.delivery_log import DeliveryLog
from gofer.sources.receiver import Registering
from gofer.sources.receivers import receivers, secret_settings
from gofer.sources.webhook.hook import every_hook
from gofer.sources.webhook.receiver import JwtProofs, webhook_receivers
from gofer.stores.one_place import FrontStores
from gofer.values.outside import Outside
from gofer.values.secret import Secret
from gofer.workflows.routes import read_routes


def build_ingress(
    settings: Settings,
    routes: object,
    stores: FrontStores,
    key: Secret,
    outside: Outside,
    *,
    hooks: object = None,
    jwt: JwtProofs | None = None,
    window: Registering | None = None,
    log: DeliveryLog | None = None,
) -> Ingress:
    """Return the front over given stores; a source without a secret has no receiver.

    `hooks` is their compiled JSON, `jwt` makes the proofs of those that take JWTs, `window` takes a secret that a
    vendor registers. `log` outlives this front where a process makes a new one when a setting changes.

    Raises ConfigError for a secret that cannot be used.
    """
    every = every_hook(hooks, settings.webhook_secrets)
    found = receivers(settings.sources, window) | webhook_receivers([hook for hook in every if hook.proven], jwt)
    ingress = Ingress(found, read_routes(routes), stores, key, outside, settings=secret_settings(every))
    if log is not None:
        ingress = replace(ingress, log=log)
    if window is not None:
        ingress = replace(ingress, register=window.register)
    return ingress
