"""The construction of the ingress, from the lightest parts only.

Every cold start imports this module before its first 2xx. So it imports no engine, models, tools, files or pydantic.
"""

from dataclasses import replace

from gofer.app.settings import Settings
from gofer.runtime.receive import Ingress
from gofer.sources.delivery_log import DeliveryLog
from gofer.sources.receiver import Registering
from gofer.sources.receivers import receivers, secret_settings
from gofer.sources.webhook.hook import read_hooks
from gofer.sources.webhook.receiver import JwtProofs, webhook_receivers
from gofer.stores.one_place import FrontStores
from gofer.values.installation_key import InstallationKey
from gofer.values.outside import Outside
from gofer.workflows.routes import read_routes


def build_ingress(
    settings: Settings,
    routes: object,
    stores: FrontStores,
    key: InstallationKey,
    outside: Outside,
    *,
    hooks: object = None,
    jwt: JwtProofs | None = None,
    window: Registering | None = None,
    log: DeliveryLog | None = None,
) -> Ingress:
    """Return the ingress over given stores. A source without a secret has no receiver.

    `hooks` is the compiled JSON of the webhooks, and `jwt` makes the verifiers of webhooks that take JWTs. `window`
    accepts a secret that a vendor registers. A caller that builds a new ingress after a setting changed passes the same
    `log` again.

    Raises ConfigError for a secret that cannot be used.
    """
    every = read_hooks(hooks, settings.webhook_secrets)
    found = receivers(settings.sources, window) | webhook_receivers(every, jwt)
    ingress = Ingress(found, read_routes(routes), stores, key, outside, settings=secret_settings(every))
    if log is not None:
        ingress = replace(ingress, log=log)
    if window is not None:
        ingress = replace(ingress, register=window.register)
    return ingress
