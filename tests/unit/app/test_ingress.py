"""The front has a door for each hook, and needs the parts for JWTs only where a hook takes them."""

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
from gofer.values.secret import Secret
from support.sources.webhook_calls import SECRET
from support.stand_ins import SetClock, make_outside

JWT = {"tokens": {"auth": {"kind": "jwt", "issuer": "i", "audience": "a", "algorithms": ["HS256"]}}}


def built(hooks: object, jwt: JwtProofs | None = None, **environment: str) -> Ingress:
    queue, outside = MemoryQueue(SetClock()), make_outside()
    settings = read_settings(environment)
    return build_ingress(
        settings, {}, Stores(MemoryStore(), MemoryBlobs(), queue), Secret("key"), outside, hooks=hooks, jwt=jwt
    )


def test_each_hook_has_its_path() -> None:
    hooks = {"new-hire": {"auth": {"kind": "standard"}}, "other": {"auth": {"kind": "bearer"}}}
    assert set(built(hooks, WEBHOOK_SECRET="s").receivers) == {"/hooks/new-hire", "/hooks/other"}
    assert set(built(None, WEBHOOK_SECRET="s").receivers) == set()


def test_a_hook_without_its_secret_has_no_door_and_one_without_its_part_stops_the_start() -> None:
    assert set(built(JWT, JwtProof).receivers) == set()
    with pytest.raises(ConfigError, match="takes JWTs"):
        built(JWT, WEBHOOK_SECRET_TOKENS=SECRET)
    assert set(built(JWT, JwtProof, WEBHOOK_SECRET_TOKENS=SECRET).receivers) == {"/hooks/tokens"}
