"""Webhook calls of each kind, made and signed without the code under test."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gofer.runtime.receive import Ingress
from gofer.sources.receiver import RawRequest
from gofer.sources.webhook.hook import Hook
from gofer.sources.webhook.receiver import JwtProofs, webhook_receivers
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret
from gofer.workflows.routes import read_routes
from support.stand_ins import NOON, SetClock, make_outside

KEY = b"a key of Standard Webhooks, 32 b"
WHSEC = "whsec_" + base64.b64encode(KEY).decode()
SECRET = "a-secret-that-callers-know-32-byte"

Headers = Sequence[tuple[str, str]]


def post(body: bytes, headers: Headers = (), name: str = "new-hire") -> RawRequest:
    return RawRequest("POST", f"/hooks/{name}", headers, body)


def signed(body: bytes, delivery: str = "msg_1", at: float = NOON, key: bytes = KEY) -> Headers:
    """Return the headers of Standard Webhooks."""
    digest = hmac.new(key, f"{delivery}.{int(at)}.".encode() + body, hashlib.sha256).digest()
    signature = "v1," + base64.b64encode(digest).decode()
    return [("webhook-id", delivery), ("webhook-timestamp", str(int(at))), ("webhook-signature", signature)]


def bearing(token: str = SECRET) -> Headers:
    return [("Authorization", f"Bearer {token}")]


def as_json(**value: object) -> bytes:
    return json.dumps(value).encode()


@dataclass
class Reception:
    """Hooks behind the ingress, with access to the stored runs."""

    hooks: Sequence[Hook]
    jwt: JwtProofs | None = None
    workflows: Mapping[str, Sequence[str]] = field(default_factory=lambda: {"webhook": ["checklist"]})
    clock: SetClock = field(default_factory=SetClock)
    store: MemoryStore = field(default_factory=MemoryStore)

    def __post_init__(self) -> None:
        queue = MemoryQueue(self.clock)
        receivers, routes = (
            webhook_receivers(self.hooks, self.jwt),
            read_routes({kind: [(name, {}) for name in names] for kind, names in self.workflows.items()}),
        )
        self.ingress = Ingress(
            receivers,
            routes,
            Stores(self.store, MemoryBlobs(), queue),
            InstallationKey(Secret("key")),
            make_outside(self.clock),
        )

    async def send(self, body: bytes, headers: Headers = (), name: str = "new-hire") -> int:
        """Send a call and return its status."""
        return (await self.ingress.receive(post(body, headers, name))).status

    async def runs(self) -> int:
        return len(await self.store.heads(1000, private=True)) + len(await self.store.heads(1000))


def hook(auth: object, *secrets: str, **more: object) -> Hook:
    return Hook("new-hire", auth, [Secret(secret) for secret in secrets], **more)  # type: ignore[arg-type]
