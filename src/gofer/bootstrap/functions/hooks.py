"""How is the function of the webhooks put together? As every door; and it alone pays for what checks JWTs."""

from gofer.bootstrap.functions.door import door
from gofer.bootstrap.functions.ground import Ground
from gofer.bootstrap.functions.invocation import Handler
from gofer.triggers.jwt_bearer import JwtProof


def hooks_door(ground: Ground) -> Handler:
    """The function at /hooks/<name>; which secrets it reads the published workflows say."""
    return door(ground, jwt=JwtProof, hooks=True)
