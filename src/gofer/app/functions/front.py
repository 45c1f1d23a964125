"""The answers of a receiver's function: those of one local server, with the workflows published last."""

import logging
from dataclasses import dataclass

from gofer.app.functions.current import Current
from gofer.app.functions.payload import Response, read_request, response
from gofer.runtime.receive import Ingress
from gofer.sources.receiver import RawRequest, Reply
from gofer.values.errors import ConfigError, TemporaryError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Front:
    """A function at a door."""

    ingress: Current[Ingress]

    async def answer(self, event: object, seconds: float) -> Response:
        """Return the HTTP answer to an event; never raises for what a sender can cause."""
        request = read_request(event)
        if request is None:
            return response(Reply(400, b"This is no HTTP request."))
        return response(await self._receive(request))

    async def _receive(self, request: RawRequest) -> Reply:
        if request.path == "/healthz":
            return Reply(200, b"ok\n")
        try:
            ingress = await self.ingress.now()
            return await ingress.receive(request)
        except (TemporaryError, ConfigError) as error:
            # Nothing was accepted: the sender is asked to come again, and the line says who has to act.
            _log.error("a delivery was turned away: %s", error)
            return Reply(503, b"Gofer cannot take this now. Send it again.")
