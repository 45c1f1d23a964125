"""The form of `webhook:` in a workflow file, compiled to plain JSON for receivers."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ConfigError
from gofer.workflows.file_text import read_text
from gofer.workflows.form_parts import Number, Strict, mistake

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}", re.ASCII)
_HEADER = re.compile(r"[a-z0-9_-]{1,100}", re.ASCII | re.IGNORECASE)


def _checked_name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise mistake(f"`{value[:40]}` is not a name for a webhook.", "Use a-z, 0-9 and `-`, such as `new-hire`.")
    return value


def _checked_header(value: str) -> str:
    if not _HEADER.fullmatch(value):
        raise mistake(f"`{value[:40]}` is not a header name.", "Write a name such as `X-Signature`.")
    return value


def _checked_key(value: str) -> str:
    if value.startswith("/"):
        return value
    return _checked_header(value)


def _checked_pointer(value: str) -> str:
    if not value.startswith("/"):
        raise mistake(f"`{value[:40]}` is not a JSON pointer.", "Write the path of a field, such as `/name`.")
    return value


HookName = Annotated[str, AfterValidator(_checked_name)]
HeaderName = Annotated[str, AfterValidator(_checked_header)]
Algorithm = Literal["RS256", "ES256", "HS256"]


class Plain(Strict):
    """A way to authenticate that has no options."""


class TokenForm(Strict):
    """A header with the secret itself."""

    header: HeaderName
    """The header with the secret."""
    prefix: str = ""
    """The text before the secret in the header."""


class BasicForm(Strict):
    """HTTP Basic authentication with the secret as the password."""

    user: str = ""
    """The name of the user; by default any."""


_TIMED = "{timestamp}.{body}"
_SLACK: Mapping[str, str] = {"prefix": "v0=", "template": "v0:{timestamp}:{body}"}
DOCUMENTED: Mapping[str, Mapping[str, str]] = {
    "calendly-webhook-signature": {"prefix": "v1=", "timestamp_prefix": "t=", "template": _TIMED},
    "circleci-signature": {"prefix": "v1="},
    "paddle-signature": {"prefix": "h1=", "timestamp_prefix": "ts=", "template": "{timestamp}:{body}"},
    "sanity-webhook-signature": {
        "prefix": "v1=",
        "timestamp_prefix": "t=",
        "template": _TIMED,
        "encoding": "base64",
    },
    "stripe-signature": {"prefix": "v1=", "timestamp_prefix": "t=", "template": _TIMED},
    "twitch-eventsub-message-signature": {
        "prefix": "sha256=",
        "template": "{Twitch-Eventsub-Message-Id}{timestamp}{body}",
        "timestamp_header": "Twitch-Eventsub-Message-Timestamp",
    },
    "typeform-signature": {"prefix": "sha256=", "encoding": "base64"},
    "x-airtable-content-mac": {"prefix": "hmac-sha256=", "secret": "base64"},
    "x-buildkite-signature": {"prefix": "signature=", "timestamp_prefix": "timestamp=", "template": _TIMED},
    "x-docusign-signature-1": {"encoding": "base64"},
    "x-pagerduty-signature": {"prefix": "v1="},
    "x-shopify-hmac-sha256": {"encoding": "base64"},
    "x-slack-signature": {**_SLACK, "timestamp_header": "X-Slack-Request-Timestamp"},
    "x-tfe-notification-signature": {"algorithm": "sha512"},
    "x-vercel-signature": {"algorithm": "sha1"},
    "x-wc-webhook-signature": {"encoding": "base64"},
    "x-zendesk-webhook-signature": {
        "encoding": "base64",
        "template": "{timestamp}{body}",
        "timestamp_header": "X-Zendesk-Webhook-Signature-Timestamp",
    },
    "x-zm-signature": {**_SLACK, "timestamp_header": "x-zm-request-timestamp"},
}
"""The signature schemes of well-known senders by the header that only they send. The header alone stands for them."""


class HmacForm(Strict):
    """The signature scheme of a service; the header alone if the service is well known and only it has this header."""

    header: HeaderName
    """The header with the signature, or with a list of signatures and other items."""
    prefix: str = ""
    """The text before the signature in the header, such as `sha256=` or `v1=`."""
    encoding: Literal["hex", "base64"] = "hex"
    """The encoding of the signature."""
    algorithm: Literal["sha1", "sha256", "sha512"] = "sha256"
    """The hash algorithm of the signature."""
    template: str = "{body}"
    """The signed text: `{body}` exactly once, `{timestamp}` if the service signs the time, and headers by their names,
    such as `{X-Request-Id}`."""
    timestamp_header: HeaderName | None = None
    """The header with the time: unix seconds or milliseconds, or ISO 8601. A signature with a time expires after five
    minutes."""
    timestamp_prefix: str = ""
    """The text before the time, such as `t=`, if its header is a list. Without `timestamp_header` it is in `header`."""
    secret: Literal["text", "base64", "hex"] = "text"  # noqa: S105 (an encoding)
    """The encoding of the secret, if the service signs with the bytes that it stands for."""

    @model_validator(mode="before")
    @classmethod
    def _documented(cls, value: object) -> object:
        fields = as_object(value)
        if set(fields) != {"header"}:
            return value
        return {**fields, **DOCUMENTED.get(as_text(fields["header"]).lower(), {})}

    @model_validator(mode="after")
    def _template(self) -> "HmacForm":
        if self.template.count("{body}") != 1:
            raise mistake(
                "The template must contain `{body}` exactly once.", 'Write a template such as "{timestamp}.{body}".'
            )
        timed = self.timestamp_header is not None or self.timestamp_prefix != ""
        if ("{timestamp}" in self.template) != timed:
            raise mistake(
                "`{timestamp}` in the template and the key `timestamp_header` or `timestamp_prefix` need each other.",
                "Write both, or neither.",
            )
        for name in re.findall(r"\{([^{}]*)\}", self.template):
            if name not in ("body", "timestamp") and not ("-" in name and _HEADER.fullmatch(name)):
                raise mistake(
                    f"`{{{name[:40]}}}` is no part of a signed text.",
                    "Write `{body}`, `{timestamp}` or a header such as `{X-Request-Id}`; write an address as it is.",
                )
        return self


class JwtForm(Strict):
    """The JWTs that a webhook accepts."""

    issuer: str = ""
    """The `iss` claim of the tokens. Only a sender with a secret (HS256) may have none."""
    audience: str = Field(min_length=1)
    """The value that the `aud` claim of the tokens must contain."""
    algorithms: tuple[Algorithm, ...] = Field(default=("RS256",), min_length=1)
    """RS256 and ES256 with `jwks`, or only HS256 with a secret."""
    jwks: object = None
    """The issuer's public keys: the name of a .json file in the folder of this file, or `{keys: […]}`."""
    leeway: Number = Field(default=60, ge=0, le=600)
    """The tolerated difference between clocks, in seconds."""

    @model_validator(mode="after")
    def _keys(self) -> "JwtForm":
        if "HS256" in self.algorithms and (len(self.algorithms) > 1 or self.jwks is not None):
            raise mistake(
                "HS256 uses a secret, and the other algorithms use public keys.",
                "Write `algorithms: [HS256]` without `jwks`.",
            )
        if "HS256" not in self.algorithms and not self.issuer:
            raise mistake("The issuer of the tokens is missing.", "Write `issuer`, the `iss` claim of its tokens.")
        if "HS256" not in self.algorithms and self.jwks is None:
            raise mistake("The public keys are missing.", "Write `jwks: keys.json`, a file in the folder of this file.")
        if not isinstance(self.jwks, str | dict | None):
            raise mistake("`jwks` is neither a file name nor a mapping.", "Write `jwks: keys.json`, or `{keys: […]}`.")
        return self


class AuthForm(Strict):
    """How a caller authenticates; exactly one of these keys."""

    standard: Plain | None = None
    """The Standard Webhooks scheme, which signs id, time and body."""
    bearer: Plain | None = None
    """The secret itself, sent as `Authorization: Bearer <secret>`."""
    token: TokenForm | None = None
    """The secret itself, in another header."""
    basic: BasicForm | None = None
    """The secret as the password of HTTP Basic authentication."""
    hmac: HmacForm | None = None
    """A signature in a header, in the scheme of the service."""
    jwt: JwtForm | None = None
    """A JWT of an issuer, sent as `Authorization: Bearer <token>`."""

    @model_validator(mode="after")
    def _one(self) -> "AuthForm":
        forms = (self.standard, self.bearer, self.token, self.basic, self.hmac, self.jwt)
        if len([form for form in forms if form is not None]) != 1:
            raise mistake("A webhook needs exactly one way to authenticate its callers.", f"Write {_WAYS}.")
        return self


_WORDS = ("standard", "bearer", "basic")
"""The ways that need no options."""
_WAYS = "`standard`, `bearer`, `basic`, `{token: {…}}`, `{hmac: {…}}` or `{jwt: {…}}`"


def _auth(value: object) -> object:
    if isinstance(value, str):
        if value not in _WORDS:
            raise mistake(f"`{value[:40]}` is not a way to authenticate callers.", f"Write {_WAYS}.")
        return {value: {}}
    return value


class WebhookForm(Strict):
    """`webhook:` in a workflow file: `POST /hooks/<name>` starts the workflow."""

    name: HookName
    """The last part of the webhook's path, made of a-z, 0-9 and `-`."""
    auth: Annotated[
        AuthForm, BeforeValidator(_auth, json_schema_input_type=Literal["standard", "bearer", "basic"] | AuthForm)
    ] = AuthForm(standard=Plain())
    """How callers authenticate."""
    key: Annotated[str, AfterValidator(_checked_key)] | None = None
    """The part of a call that identifies repeated deliveries: a JSON pointer into the body (`/id`), or a header
    name."""
    private: bool = False
    """Whether lists for people leave out the runs of this webhook."""
    fields: tuple[Annotated[str, AfterValidator(_checked_pointer)], ...] = ()
    """The only parts of the body that the runs of this workflow get, as JSON pointers such as `/name`; by default the
    whole body."""


def compile_hooks(found: Iterable[tuple[Path, WebhookForm]]) -> dict[str, object]:
    """Return all webhooks by name as plain JSON, compiled from the workflow files that define them.

    Raises ConfigError for an unreadable file of keys, and when two files define one webhook differently.
    """
    compiled: dict[str, dict[str, object]] = {}
    fields: dict[str, dict[str, list[str]]] = {}
    first: dict[str, Path] = {}
    for path, form in found:
        value = _compiled(form, path.parent)
        if form.name in compiled and compiled[form.name] != value:
            problem = f"{first[form.name].name} defines the webhook {form.name} differently"
            raise ConfigError(f"{path}: {problem}; write the same `auth`, `key` and `private` in both.")
        first.setdefault(form.name, path)
        compiled[form.name] = value
        if form.fields:
            fields.setdefault(form.name, {})[path.stem] = list(form.fields)
    # Another workflow of the same webhook may get other parts of its body.
    return {name: {**value, **_named_fields(fields.get(name))} for name, value in compiled.items()}


def _named_fields(fields: Mapping[str, object] | None) -> dict[str, object]:
    """Return the fields of each workflow; nothing for a webhook if all its workflows get the whole body."""
    if not fields:
        return {}
    return {"fields": fields}


def _compiled(form: WebhookForm, folder: Path) -> dict[str, object]:
    return {"auth": _compiled_auth(form.auth, folder), "key": form.key or "", "private": form.private}


def _compiled_auth(auth: AuthForm, folder: Path) -> dict[str, object]:
    if auth.hmac is not None:
        form = auth.hmac
        # Keys that receivers of earlier versions do not know are left out where they are not used.
        known = form.model_dump(exclude={"timestamp_prefix", "secret"})
        added = form.model_dump(include={"timestamp_prefix", "secret"}, exclude_defaults=True)
        headers = {"header": form.header.lower(), "timestamp_header": (form.timestamp_header or "").lower()}
        return {"kind": "hmac", **known, **added, **headers}
    if auth.token is not None:
        return {"kind": "token", "header": auth.token.header.lower(), "prefix": auth.token.prefix}
    if auth.basic is not None:
        return {"kind": "basic", "user": auth.basic.user}
    if auth.jwt is not None:
        form = auth.jwt
        named = {"issuer": form.issuer, "audience": form.audience, "leeway": form.leeway}
        keys = _keys(form.jwks, folder)
        return {"kind": "jwt", **named, "algorithms": list(form.algorithms), "keys": keys}
    if auth.bearer is not None:
        return {"kind": "bearer"}
    return {"kind": "standard"}


def _keys(jwks: object, folder: Path) -> list[Mapping[str, object]]:
    """Return the keys of a JWKS, inline or in a file."""
    where = "jwks"
    if isinstance(jwks, str):
        where = str(folder / jwks)
        text, _ = read_text(folder / jwks)
        if text is None:
            raise ConfigError(f"The JWKS file {where} cannot be read as text; save the issuer's JWKS there.")
        try:
            jwks = cast(object, json.loads(text))
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{where} is not JSON; save the issuer's JWKS there.") from error
    keys = [as_object(key) for key in as_list(as_object(jwks).get("keys"))]
    if jwks is not None and not keys:
        raise ConfigError(f"{where} contains no `keys`; save the issuer's JWKS there.")
    return keys
