"""How is the function of the webhooks put together? As every door; and it alone pays for what checks JWTs."""

from gofer.app.functions.foundation import Ground
from gofer.app.functions.invocation import Handler
from gofer.app.functions.receiver import door
from gofer.sources.webhook.jwt_bearer import JwtProof


def hooks_door(ground: Ground) -> Handler:
    """The function at /hooks/<name>; which secrets it reads the published workflows say."""
    return door(ground, jwt=JwtProof, hooks=True)
