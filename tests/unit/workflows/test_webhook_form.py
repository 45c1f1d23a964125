"""The key `webhook:` of a workflow: accepted forms, mistakes, and the hook that ingress builds from it."""

import json
from pathlib import Path

import pytest

from gofer.sources.webhook.hook import Basic, Bearer, Header, Hmac, Hook, Jwt, Pointer, Standard, Token, read_hooks
from gofer.values.errors import ConfigError
from gofer.values.secret import Secret
from gofer.workflows.form import fill
from gofer.workflows.webhook_form import WebhookForm, compile_hooks
from gofer.workflows.yaml_source import read_source

SECRETS = {"": [Secret("s")]}


def written(folder: Path, text: str) -> WebhookForm:
    form, mistakes = fill(read_source(save(folder, text)), WebhookForm)
    assert form is not None, mistakes
    return form


def save(folder: Path, text: str, name: str = "w.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def hook(folder: Path, text: str) -> Hook:
    """Return the hook as ingress reads it from JSON."""
    compiled = compile_hooks([(folder / "w.yaml", written(folder, text))])
    (made,) = read_hooks(json.loads(json.dumps(compiled)), SECRETS)
    return made


@pytest.mark.parametrize(
    ("text", "auth", "key"),
    [
        ("name: new-hire", Standard(), None),
        ("{name: n, auth: standard, key: /id}", Standard(), Pointer("/id")),
        ("{name: n, auth: bearer, key: X-Request-Id}", Bearer(), Header("x-request-id")),
        ("{name: n, auth: {hmac: {header: X-Sig}}}", Hmac("x-sig"), None),
        ("{name: n, auth: {token: {header: X-Gitlab-Token}}}", Token("x-gitlab-token"), None),
        (
            "{name: n, auth: {token: {header: Authorization, prefix: GenieKey }}}",
            Token("authorization", "GenieKey"),
            None,
        ),
        ("{name: n, auth: basic}", Basic(), None),
        ("{name: n, auth: {basic: {user: gofer}}}", Basic("gofer"), None),
        (
            'name: n\nauth: {hmac: {header: A, timestamp_prefix: t, template: "{X-Id}{timestamp}{body}", secret: hex}}',
            Hmac("a", template="{X-Id}{timestamp}{body}", timestamp_prefix="t", secret="hex"),
            None,
        ),
        ("{name: n, auth: {jwt: {audience: a, algorithms: [HS256]}}}", Jwt("", "a", ("HS256",), (), 60.0), None),
        (
            """name: n
auth:
  hmac:
    header: X-Sig
    prefix: v0=
    encoding: base64
    algorithm: sha512
    template: "v0:{timestamp}:{body}"
    timestamp_header: X-Time
""",
            Hmac("x-sig", "v0=", "base64", "sha512", "v0:{timestamp}:{body}", "x-time"),
            None,
        ),
        (
            "{name: n, auth: {jwt: {issuer: i, audience: a, algorithms: [HS256]}}}",
            Jwt("i", "a", ("HS256",), (), 60.0),
            None,
        ),
        (
            "{name: n, auth: {jwt: {issuer: i, audience: a, jwks: {keys: [{kty: RSA}]}, leeway: 5}}}",
            Jwt("i", "a", ("RS256",), ({"kty": "RSA"},), 5.0),
            None,
        ),
    ],
)
def test_webhook_key_is_compiled_to_the_checks_of_ingress(
    tmp_path: Path, text: str, auth: object, key: Pointer | Header | None
) -> None:
    made = hook(tmp_path, text)
    assert (made.auth, made.key, made.private) == (auth, key, False)


def test_webhook_public_keys_are_read_from_a_file(tmp_path: Path) -> None:
    save(tmp_path, '{"keys": [{"kty": "EC"}]}', "keys.json")
    made = hook(tmp_path, "{name: n, auth: {jwt: {issuer: i, audience: a, algorithms: [ES256], jwks: keys.json}}}")
    assert isinstance(made.auth, Jwt)
    assert made.auth.keys == ({"kty": "EC"},)


@pytest.mark.parametrize("held", [None, "no json", "[]", '{"keys": []}', '{"keys": 5}'])
def test_webhook_key_file_without_keys_is_named(tmp_path: Path, held: str | None) -> None:
    if held is not None:
        save(tmp_path, held, "keys.json")
    with pytest.raises(ConfigError, match=r"keys\.json"):
        hook(tmp_path, "{name: n, auth: {jwt: {issuer: i, audience: a, jwks: keys.json}}}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("auth: bearer", "w.yaml:1:1: The key `name` is missing."),
        ("name: New Hire", "w.yaml:1:7: `New Hire` is not a name for a webhook."),
        ("name: ../x", "w.yaml:1:7: `../x` is not a name for a webhook."),
        ("name: n\nauth: digest", "w.yaml:2:7: `digest` is not a way to authenticate callers."),
        (
            "name: n\nauth: {bearer: {}, standard: {}}",
            "w.yaml:2:7: A webhook needs exactly one way to authenticate its callers.",
        ),
        ("name: n\nauth: {}", "w.yaml:2:7: A webhook needs exactly one way to authenticate its callers."),
        ("name: n\nauth: [bearer]", "w.yaml:2:7: `auth` is a list, not a mapping of keys."),
        ("name: n\nauth: {hmac: {header: X Y}}", "w.yaml:2:23: `X Y` is not a header name."),
        (
            "name: n\nauth: {hmac: {header: X, encoding: hax}}",
            "w.yaml:2:36: `auth.hmac.encoding` cannot be `hax`. Write `hex` or `base64`.",
        ),
        (
            'name: n\nauth: {hmac: {header: X, template: ""}}',
            "w.yaml:2:14: The template must contain `{body}` exactly once.",
        ),
        (
            'name: n\nauth: {hmac: {header: X, template: "{timestamp}{body}"}}',
            "w.yaml:2:14: `{timestamp}` in the template and the key `timestamp_header` or `timestamp_pr",
        ),
        (
            'name: n\nauth: {hmac: {header: X, template: "{method}{url}{body}"}}',
            "w.yaml:2:14: `{method}` is no part of a signed text. Write `{body}`, `{timestamp}` or a header such as",
        ),
        ("name: n\nauth: {jwt: {audience: a, jwks: k.json}}", "w.yaml:2:13: The issuer of the tokens is missing."),
        ("name: n\nauth: {token: {}}", "w.yaml:2:15: The key `auth.token.header` is missing."),
        ("name: n\nauth: {jwt: {issuer: i, audience: a}}", "w.yaml:2:13: The public keys are missing."),
        (
            "name: n\nauth: {jwt: {issuer: i, audience: a, jwks: k.json, algorithms: [HS256, RS256]}}",
            "w.yaml:2:13: HS256 uses a secret, and the other algorithms use public keys.",
        ),
        ("name: n\nauth: {jwt: {issuer: i, audience: a, jwks: [k]}}", "w.yaml:2:13: `jwks` is neither"),
        (
            "name: n\nauth: {jwt: {issuer: i, audience: a, jwks: k, algorithms: [none]}}",
            "w.yaml:2:60: Item 1 of `auth.jwt.algorithms` cannot be `none`.",
        ),
        ("name: n\nkey: the id", "w.yaml:2:6: `the id` is not a header name."),
        (
            "name: n\nauth: {hmac: {prefix: v0}}",
            "w.yaml:2:14: The key `auth.hmac.header` is missing. Add `header: …`. The header with the signature,",
        ),
        (
            "name: n\nauth: {hmac: {header: X, hash: md5}}",
            "w.yaml:2:26: `auth.hmac.hash` is not a key here. Remove it; the keys are `header`, `prefix`,",
        ),
        ("name: n\nauth: {hmac: X}", "w.yaml:2:14: `auth.hmac` is the text `X`, not a mapping of keys."),
        ("name: n\nsecret: x", "w.yaml:2:1: `secret` is not a key here."),
    ],
)
def test_webhook_key_mistake_is_reported_at_the_place(tmp_path: Path, text: str, line: str) -> None:
    form, mistakes = fill(read_source(save(tmp_path, text)), WebhookForm)
    assert form is None
    assert [str(mistake).replace(f"{tmp_path}/", "")[: len(line)] for mistake in mistakes] == [line]


def test_workflows_may_share_a_webhook_with_equal_settings_only(tmp_path: Path) -> None:
    bearer, standard = written(tmp_path, "{name: n, auth: bearer}"), written(tmp_path, "name: n")
    assert list(compile_hooks([(Path("a.yaml"), bearer), (Path("b.yaml"), bearer)])) == ["n"]
    with pytest.raises(ConfigError, match=r"b\.yaml: a\.yaml defines the webhook n"):
        compile_hooks([(Path("a.yaml"), bearer), (Path("b.yaml"), standard)])


def test_fields_belong_to_the_workflow_of_their_file(tmp_path: Path) -> None:
    some = written(tmp_path, "{name: n, fields: [/name, /team/lead]}")
    whole = written(tmp_path, "name: n")
    compiled = compile_hooks([(tmp_path / "one.yaml", some), (tmp_path / "two.yaml", whole)])
    (made,) = read_hooks(json.loads(json.dumps(compiled)), SECRETS)
    assert made.fields == {"one": ["/name", "/team/lead"]}
    assert compile_hooks([(tmp_path / "two.yaml", whole)]) == {
        "n": {"auth": {"kind": "standard"}, "key": "", "private": False}
    }


def test_field_without_a_slash_is_a_mistake(tmp_path: Path) -> None:
    _, (mistake,) = fill(read_source(save(tmp_path, "{name: n, fields: [name]}")), WebhookForm)
    assert str(mistake).endswith("`name` is not a JSON pointer. Write the path of a field, such as `/name`.")
