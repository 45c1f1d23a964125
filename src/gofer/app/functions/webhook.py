"""The function of the webhooks: a receiver like the others, and the only one that loads the check of JWTs."""

from gofer.app.functions.foundation import Ground
from gofer.app.functions.invocation import Handler
from gofer.app.functions.receiver import receiver
from gofer.sources.webhook.jwt_bearer import JwtProof


def webhook_receiver(ground: Ground) -> Handler:
    """Return the function at /hooks/<name>. The published workflows determine which secrets it reads."""
    return receiver(ground, jwt=JwtProof, hooks=True)
