"""The form of `webhook:` in a workflow file, compiled to plain JSON for receivers."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from gofer.values.canonical_json import as_list, as_object
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


HookName = Annotated[str, AfterValidator(_checked_name)]
HeaderName = Annotated[str, AfterValidator(_checked_header)]
Algorithm = Literal["RS256", "ES256", "HS256"]


class Plain(Strict):
    """A way to authenticate that has no options."""


class HmacForm(Strict):
    """The signature scheme of a service."""

    header: HeaderName
    """The header with the signature."""
    prefix: str = ""
    """The text before the signature in the header, such as `sha256=`."""
    encoding: Literal["hex", "base64"] = "hex"
    """The encoding of the signature."""
    algorithm: Literal["sha256", "sha512"] = "sha256"
    """The hash algorithm of the signature."""
    template: str = "{body}"
    """The signed text: `{body}` exactly once, and `{timestamp}` if the service signs the time."""
    timestamp_header: HeaderName | None = None
    """The header with the time in unix seconds. With it, a signature expires after five minutes."""

    @model_validator(mode="after")
    def _template(self) -> "HmacForm":
        if self.template.count("{body}") != 1:
            raise mistake(
                "The template must contain `{body}` exactly once.", 'Write a template such as "{timestamp}.{body}".'
            )
        if ("{timestamp}" in self.template) != (self.timestamp_header is not None):
            raise mistake(
                "`{timestamp}` in the template and the key `timestamp_header` need each other.",
                "Write both, or neither.",
            )
        return self


class JwtForm(Strict):
    """The JWTs that a webhook accepts."""

    issuer: str = Field(min_length=1)
    """The `iss` claim of the tokens."""
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
    hmac: HmacForm | None = None
    """A signature in a header, in the scheme of the service."""
    jwt: JwtForm | None = None
    """A JWT of an issuer, sent as `Authorization: Bearer <token>`."""

    @model_validator(mode="after")
    def _one(self) -> "AuthForm":
        if len([form for form in (self.standard, self.bearer, self.hmac, self.jwt) if form is not None]) != 1:
            raise mistake("A webhook needs exactly one way to authenticate its callers.", f"Write {_WAYS}.")
        return self


_WAYS = "`standard`, `bearer`, `{hmac: {…}}` or `{jwt: {…}}`"


def _auth(value: object) -> object:
    if isinstance(value, str):
        if value not in ("standard", "bearer"):
            raise mistake(f"`{value[:40]}` is not a way to authenticate callers.", f"Write {_WAYS}.")
        return {value: {}}
    return value


class WebhookForm(Strict):
    """`webhook:` in a workflow file: `POST /hooks/<name>` starts the workflow."""

    name: HookName
    """The last part of the webhook's path, made of a-z, 0-9 and `-`."""
    auth: Annotated[
        AuthForm, BeforeValidator(_auth, json_schema_input_type=Literal["standard", "bearer"] | AuthForm)
    ] = AuthForm(standard=Plain())
    """How callers authenticate."""
    key: Annotated[str, AfterValidator(_checked_key)] | None = None
    """The part of a call that identifies repeated deliveries: a JSON pointer into the body (`/id`), or a header
    name."""
    private: bool = False
    """Whether lists for people leave out the runs of this webhook."""


def compile_hooks(found: Iterable[tuple[Path, WebhookForm]]) -> dict[str, object]:
    """Return all webhooks by name as plain JSON, compiled from the workflow files that define them.

    Raises ConfigError for an unreadable file of keys, and when two files define one webhook differently.
    """
    compiled: dict[str, object] = {}
    first: dict[str, Path] = {}
    for path, form in found:
        value = _compiled(form, path.parent)
        if form.name in compiled and compiled[form.name] != value:
            problem = f"{first[form.name].name} defines the webhook {form.name} differently"
            raise ConfigError(f"{path}: {problem}; write the same `auth`, `key` and `private` in both.")
        first.setdefault(form.name, path)
        compiled[form.name] = value
    return compiled


def _compiled(form: WebhookForm, folder: Path) -> dict[str, object]:
    return {"auth": _compiled_auth(form.auth, folder), "key": form.key or "", "private": form.private}


def _compiled_auth(auth: AuthForm, folder: Path) -> dict[str, object]:
    if auth.hmac is not None:
        form = auth.hmac
        headers = {"header": form.header.lower(), "timestamp_header": (form.timestamp_header or "").lower()}
        return {"kind": "hmac", **form.model_dump(), **headers}
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
