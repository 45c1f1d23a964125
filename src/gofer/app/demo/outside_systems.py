"""The clock and the other system of the demo, which call Gofer by the same ways as real ones."""

from dataclasses import dataclass
from datetime import UTC, datetime

from gofer.app.embedded.stack import EmbeddedStack
from gofer.sources.schedule.receiver import scheduled
from gofer.sources.webhook.proofs import standard_key, standard_signature
from gofer.values.errors import ConfigError
from gofer.values.outside import HttpRequest


@dataclass(frozen=True, slots=True)
class Outsiders:
    """What is neither a person nor a simulated system."""

    embedded: EmbeddedStack

    async def fire(self, workflow: str, nominal: datetime | None = None) -> str:
        """Begin the run of a workflow's schedule for a time (aware), or as if now were its time.

        Raises ConfigError when it has no schedule.
        """
        nominal = nominal or datetime.fromtimestamp(self.embedded.worker.services.outside.clock.now(), UTC)
        for plan in self.embedded.clockwork.plans:
            if plan.workflow == workflow:
                return await self.embedded.ingress.start(scheduled(workflow, plan.schedule, nominal), workflow)
        raise ConfigError(f"agents/{workflow}.yaml has no schedule, or is missing.")

    async def call(self, hook: str, body: bytes) -> int:
        """Call a webhook over HTTP, signed as Standard Webhooks; return the status. Raises TemporaryError."""
        services = self.embedded.worker.services
        settings = self.embedded.settings
        (secret, *_) = settings.webhook_secrets[""]
        delivery = services.outside.new_id()
        at = str(int(services.outside.clock.now()))
        signature = standard_signature(standard_key(secret), delivery, at, body)
        headers = {"webhook-id": delivery, "webhook-timestamp": at, "webhook-signature": signature}
        request = HttpRequest("POST", f"{self.embedded.url}/hooks/{hook}", headers, body)
        return (await services.outside.http.send(request)).status
