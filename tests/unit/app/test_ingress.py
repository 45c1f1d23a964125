"""Ingress: one receiver for each hook, with the JWT part only where a hook needs it."""

import pytest

from gofer.app.ingress import build_ingress
from gofer.app.settings import read_settings
from gofer.runtime.receive import Ingress
from gofer.sources.webhook.jwt_bearer import JwtProof
from gofer.sources.webhook.receiver import JwtProofs
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import ConfigError
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret
from support.sources.webhook_calls import SECRET
from support.stand_ins import SetClock, make_outside

JWT = {"tokens": {"auth": {"kind": "jwt", "issuer": "i", "audience": "a", "algorithms": ["HS256"]}}}


def built(hooks: object, jwt: JwtProofs | None = None, **environment: str) -> Ingress:
    queue, outside = MemoryQueue(SetClock()), make_outside()
    settings = read_settings(environment)
    return build_ingress(
        settings,
        {},
        Stores(MemoryStore(), MemoryBlobs(), queue),
        InstallationKey(Secret("key")),
        outside,
        hooks=hooks,
        jwt=jwt,
    )


def test_each_webhook_has_a_path() -> None:
    hooks = {"new-hire": {"auth": {"kind": "standard"}}, "other": {"auth": {"kind": "bearer"}}}
    assert set(built(hooks, WEBHOOK_SECRET="s").receivers) == {"/hooks/new-hire", "/hooks/other"}
    assert set(built(None, WEBHOOK_SECRET="s").receivers) == set()


def test_webhook_without_a_secret_has_no_receiver_and_missing_jwt_support_is_refused() -> None:
    assert set(built(JWT, JwtProof).receivers) == set()
    with pytest.raises(ConfigError, match="takes JWTs"):
        built(JWT, WEBHOOK_SECRET_TOKENS=SECRET)
    assert set(built(JWT, JwtProof, WEBHOOK_SECRET_TOKENS=SECRET).receivers) == {"/hooks/tokens"}
