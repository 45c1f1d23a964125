"""Hooks: who may call `/hooks/<name>`, and what tells one call from another.

Hooks come as compiled JSON, as `workflows.hook` makes it, so that ingress reads no YAML and loads no pydantic.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ConfigError
from gofer.values.secret import Secret


@dataclass(frozen=True, slots=True)
class Standard:
    """Standard Webhooks: id, time and body are signed, and the id tells deliveries apart."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """`Authorization: Bearer <secret>`."""


@dataclass(frozen=True, slots=True)
class Hmac:
    """A header with an HMAC over the body, as many services have one of their own."""

    header: str
    """Lower case."""
    prefix: str = ""
    """What stands before the signature: `sha256=`."""
    encoding: str = "hex"
    """hex or base64."""
    algorithm: str = "sha256"
    """sha256 or sha512."""
    template: str = "{body}"
    """What is signed; `{timestamp}` is the value of `timestamp_header`."""
    timestamp_header: str = ""
    """Lower case; empty where no time is signed."""


@dataclass(frozen=True, slots=True)
class Jwt:
    """OAuth 2 access tokens that are JWTs: `Authorization: Bearer <token>`."""

    issuer: str
    audience: str
    algorithms: tuple[str, ...]
    """RS256 and ES256, or HS256 alone."""
    keys: tuple[Mapping[str, object], ...] = ()
    """Public keys as JWK; none for HS256, whose key is the secret."""
    leeway: float = 60.0
    """Seconds by which clocks may differ."""


Auth: TypeAlias = Standard | Bearer | Hmac | Jwt


@dataclass(frozen=True, slots=True)
class Pointer:
    """The key of a call stands in its body, at a JSON pointer: `/data/id`."""

    path: str


@dataclass(frozen=True, slots=True)
class Header:
    """The key of a call stands in a header, named in lower case."""

    name: str


@dataclass(frozen=True, slots=True)
class Hook:
    """One named hook."""

    name: str
    auth: Auth = Standard()
    secrets: Sequence[Secret] = ()
    """The secret, and the previous one while it is being rotated; none where a JWT has public keys."""
    key: Pointer | Header | None = None
    """What tells one call from another; None is the id of Standard Webhooks, or else the body for ten minutes."""
    private: bool = False
    """Whether its runs stay out of lists that people see."""

    @property
    def proven(self) -> bool:
        """Whether there is anything by which a caller could prove who it is."""
        return bool(self.secrets) or (isinstance(self.auth, Jwt) and bool(self.auth.keys))

    @property
    def path(self) -> str:
        """Where it listens."""
        return f"/hooks/{self.name}"


def read_hooks(compiled: object, secrets: Mapping[str, Sequence[Secret]]) -> list[Hook]:
    """Hooks from their compiled JSON, by name. `secrets` by the names of hooks, under the empty name those of the rest.

    A hook without a secret is left out, as every source is that is not set up.
    """
    return [hook for hook in every_hook(compiled, secrets) if hook.proven]


def every_hook(compiled: object, secrets: Mapping[str, Sequence[Secret]]) -> list[Hook]:
    """Return what `read_hooks` returns, with the hooks that no caller can prove itself to."""
    return [_hook(name, as_object(value), secrets) for name, value in sorted(as_object(compiled).items())]


def variable(name: str) -> str:
    """The environment variable with the secret of a hook."""
    return f"WEBHOOK_SECRET_{name.upper().replace('-', '_')}"


def _hook(name: str, value: Mapping[str, object], secrets: Mapping[str, Sequence[Secret]]) -> Hook:
    auth = _auth(as_object(value.get("auth")))
    own = secrets.get(name) or secrets.get("", ())
    return Hook(name, auth, own, _key(as_text(value.get("key"))), value.get("private") is True)


def _auth(value: Mapping[str, object]) -> Auth:
    kind = as_text(value.get("kind"))
    fields = {name: field for name, field in value.items() if name != "kind"}
    match kind:
        case "standard":
            return Standard()
        case "bearer":
            return Bearer()
        case "hmac":
            return Hmac(**cast(dict[str, str], fields))
        case "jwt":
            return Jwt(
                as_text(fields.get("issuer")),
                as_text(fields.get("audience")),
                tuple(as_text(name) for name in as_list(fields.get("algorithms"))),
                tuple(as_object(key) for key in as_list(fields.get("keys"))),
                float(cast(float, fields.get("leeway", 60.0))),
            )
        case _:
            raise ConfigError(
                f"A webhook proves itself by {kind[:40]!r}, which this Gofer does not know; compile anew."
            )


def _key(word: str) -> Pointer | Header | None:
    if not word:
        return None
    return Pointer(word) if word.startswith("/") else Header(word.lower())
