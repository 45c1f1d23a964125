"""The part that every simulated vendor has: a web app with state, and deliveries that a story can await."""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from gofer.simulators.deliveries import Webhook


class Vendor:
    """A simulated vendor. Use it inside a running event loop."""

    def __init__(self, webhook: Webhook, routes: Sequence[BaseRoute]) -> None:
        self.app = Starlette(routes=routes)
        """The vendor as a web app."""
        self._webhook = webhook

    async def settled(self) -> None:
        """Wait until no delivery is under way, retries included."""
        await self._webhook.settled()

    async def close(self) -> None:
        """Cancel the deliveries under way."""
        await self._webhook.close()
