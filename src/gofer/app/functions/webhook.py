"""How is the function of the webhooks put together? As every door; and it alone pays for what checks JWTs."""

from gofer.app.functions.foundation import Ground
from gofer.app.functions.invocation import Handler
from gofer.app.functions.receiver import receiver
from gofer.sources.webhook.jwt_bearer import JwtProof


def webhook_receiver(ground: Ground) -> Handler:
    """The function at /hooks/<name>; which secrets it reads the published workflows say."""
    return receiver(ground, jwt=JwtProof, hooks=True)
