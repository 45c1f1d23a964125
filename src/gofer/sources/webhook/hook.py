"""Hooks: the callers' authentication for `/hooks/<name>`, and the key that distinguishes one call from another.

Receivers read hooks from compiled JSON, so that they load neither YAML nor pydantic.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ConfigError
from gofer.values.secret import Secret


@dataclass(frozen=True, slots=True)
class Standard:
    """Standard Webhooks: the sender signs id, time and body, and the id distinguishes deliveries."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """The header `Authorization: Bearer <secret>`."""


@dataclass(frozen=True, slots=True)
class Token:
    """The secret itself in a header that the service names."""

    header: str
    """The name of the header in lower case."""
    prefix: str = ""
    """The text before the secret."""


@dataclass(frozen=True, slots=True)
class Basic:
    """HTTP Basic authentication with the secret as the password."""

    user: str = ""
    """The name of the user; empty for any."""


@dataclass(frozen=True, slots=True)
class Hmac:
    """A header with an HMAC over the body; many services define their own."""

    header: str
    """The name of the header in lower case. Its value may be a list, of which each item may be a signature."""
    prefix: str = ""
    """The text before a signature, such as `sha256=`."""
    encoding: str = "hex"
    """The encoding of the signature: hex or base64."""
    algorithm: str = "sha256"
    """The hash function: sha1, sha256 or sha512."""
    template: str = "{body}"
    """The signed text. `{timestamp}` is the signed time, and a name with `-` in braces is the value of that header."""
    timestamp_header: str = ""
    """The name of the header with the signed time, in lower case; empty if `header` has it or no time is signed."""
    timestamp_prefix: str = ""
    """The text before the time in a header that is a list; empty if the time is the whole value."""
    secret: str = "text"  # noqa: S105 (an encoding)
    """The encoding of the secret: text, base64 or hex."""


@dataclass(frozen=True, slots=True)
class Jwt:
    """OAuth 2 access tokens that are JWTs: `Authorization: Bearer <token>`."""

    issuer: str
    """The required issuer; empty if a sender with a shared secret names none."""
    audience: str
    algorithms: tuple[str, ...]
    """RS256 and ES256, or only HS256."""
    keys: tuple[Mapping[str, object], ...] = ()
    """The public keys as JWK; none for HS256, for which the secret is the key."""
    leeway: float = 60.0
    """The seconds by which clocks may differ."""


Auth: TypeAlias = Standard | Bearer | Token | Basic | Hmac | Jwt


@dataclass(frozen=True, slots=True)
class Pointer:
    """The key of a call is in its body, at a JSON pointer such as `/data/id`."""

    path: str


@dataclass(frozen=True, slots=True)
class Header:
    """The key of a call is in a header, named in lower case."""

    name: str


@dataclass(frozen=True, slots=True)
class Hook:
    """One named hook."""

    name: str
    auth: Auth = Standard()
    secrets: Sequence[Secret] = ()
    """The secret and, during a rotation, the previous one; none for JWTs with public keys."""
    key: Pointer | Header | None = None
    """The place of the key that distinguishes calls.

    None means the id of Standard Webhooks; for other hooks, equal bodies within ten minutes count as the same call.
    """
    private: bool = False
    """Whether lists for people hide the runs of this hook."""
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """By workflow, the JSON pointers of the only parts of a body that its runs get; the others get the whole body."""

    @property
    def proven(self) -> bool:
        """Whether the hook has a secret or key with which callers can authenticate; without one it gets no receiver."""
        return bool(self.secrets) or (isinstance(self.auth, Jwt) and bool(self.auth.keys))

    @property
    def path(self) -> str:
        """Return the URL path of the hook."""
        return f"/hooks/{self.name}"


def read_hooks(compiled: object, secrets: Mapping[str, Sequence[Secret]]) -> list[Hook]:
    """Return hooks from their compiled JSON, sorted by name, including hooks without a secret.

    `secrets` maps names of hooks to secrets; the empty name holds the secret of all other hooks.
    """
    return [_hook(name, as_object(value), secrets) for name, value in sorted(as_object(compiled).items())]


def variable(name: str) -> str:
    """Return the name of the environment variable with the secret of a hook."""
    return f"WEBHOOK_SECRET_{name.upper().replace('-', '_')}"


def _hook(name: str, value: Mapping[str, object], secrets: Mapping[str, Sequence[Secret]]) -> Hook:
    auth = _auth(as_object(value.get("auth")))
    own = secrets.get(name) or secrets.get("", ())
    named = as_object(value.get("fields"))
    fields = {workflow: [as_text(pointer) for pointer in as_list(pointers)] for workflow, pointers in named.items()}
    return Hook(name, auth, own, _key(as_text(value.get("key"))), value.get("private") is True, fields)


def _auth(value: Mapping[str, object]) -> Auth:
    kind = as_text(value.get("kind"))
    fields = {name: item for name, item in value.items() if name != "kind"}
    match kind:
        case "standard":
            return Standard()
        case "bearer":
            return Bearer()
        case "token":
            return Token(**cast(dict[str, str], fields))
        case "basic":
            return Basic(**cast(dict[str, str], fields))
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
                f"A webhook authenticates by {kind[:40]!r}, which this Gofer does not know; compile workflows again."
            )


def _key(word: str) -> Pointer | Header | None:
    if not word:
        return None
    if word.startswith("/"):
        return Pointer(word)
    return Header(word.lower())
