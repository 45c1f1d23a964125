"""The front has a door for each hook, and needs the parts for JWTs only where a hook takes them."""

import pytest

from gofer.blobs.memory import MemoryBlobs
from gofer.bootstrap.ingress import build_ingress
from gofer.bootstrap.settings import read_settings
from gofer.dispatch import Ingress
from gofer.errors import ConfigError
from gofer.journal.memory import MemoryStore
from gofer.queue.memory import MemoryQueue
from gofer.secret import Secret
from gofer.triggers.jwt_bearer import JwtProof
from gofer.triggers.webhook import JwtProofs
from hooks import SECRET
from stand_ins import SetClock, make_outside

JWT = {"tokens": {"auth": {"kind": "jwt", "issuer": "i", "audience": "a", "algorithms": ["HS256"]}}}


def built(hooks: object, jwt: JwtProofs | None = None, **environment: str) -> Ingress:
    queue, outside = MemoryQueue(SetClock()), make_outside()
    settings = read_settings(environment)
    return build_ingress(
        settings, {}, MemoryStore(), MemoryBlobs(), queue, Secret("key"), outside, hooks=hooks, jwt=jwt
    )


def test_each_hook_has_its_path() -> None:
    hooks = {"new-hire": {"auth": {"kind": "standard"}}, "other": {"auth": {"kind": "bearer"}}}
    assert set(built(hooks, WEBHOOK_SECRET="s").doors) == {"/hooks/new-hire", "/hooks/other"}
    assert set(built(None, WEBHOOK_SECRET="s").doors) == set()


def test_a_hook_without_its_secret_has_no_door_and_one_without_its_part_stops_the_start() -> None:
    assert set(built(JWT, JwtProof).doors) == set()
    with pytest.raises(ConfigError, match="takes JWTs"):
        built(JWT, WEBHOOK_SECRET_TOKENS=SECRET)
    assert set(built(JWT, JwtProof, WEBHOOK_SECRET_TOKENS=SECRET).doors) == {"/hooks/tokens"}
