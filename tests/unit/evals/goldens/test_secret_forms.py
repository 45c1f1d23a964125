"""Secrets are found behind names of fields, by the prefixes of vendors, and in keys that are cut."""

import json

import pytest

from gofer.evals.goldens.known_names import known_names
from gofer.evals.goldens.pseudonyms import Pseudonyms
from gofer.evals.goldens.redaction import Redaction, sensitive_in
from gofer.evals.goldens.secret_forms import secrets_in

LINE = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAACFwAA"
BEGIN = "-----BEGIN OPENSSH PRIVATE KEY-----\n"
END = "\n-----END OPENSSH PRIVATE KEY-----"
SECRETS = {
    "password without digits": ("password: hunterhunter", "hunterhunter"),
    "password with signs": ("pwd=S3cr!t#Pass$99word,", "S3cr!t#Pass$99word"),
    "password in German": ("Passwort: Sommerregen!", "Sommerregen"),
    "password in a sentence": ("the password is Sommerregen.", "Sommerregen"),
    "passphrase of words": ('"passphrase": "correct horse battery"', "correct horse battery"),
    "password in JSON in JSON": (json.dumps(json.dumps({"password": "hunterhunter"})), "hunterhunter"),
    "basic": ("Authorization: Basic YWRtaW46aHVudGVyMnB3OTk=", "YWRtaW46aHVudGVyMnB3OTk="),
    "bearer": ("with Bearer abcDEFghiJKLmnoPQRst-uv", "abcDEFghiJKLmnoPQRst-uv"),
    "token": ("TOKEN=abcd1234efgh5678", "abcd1234efgh5678"),
    "secret key": ("SECRET_KEY: django-insecure-abcdef", "django-insecure-abcdef"),
    "session token": ('{"SessionToken":"IQoJb3JpZ2luX2VjEBwa"}', "IQoJb3JpZ2luX2VjEBwa"),
    "account key": (
        "AccountName=x;AccountKey=Eby8vdM02xNOcq/FsuFq2UVErCz4I6tq==",
        "Eby8vdM02xNOcq/FsuFq2UVErCz4I6tq==",
    ),
    "api key": ("apikey = abcdefghijklmnopqrs", "abcdefghijklmnopqrs"),
    "pem": (BEGIN + LINE + END, LINE),
    "pem without end": (BEGIN + LINE[:40], LINE[:40]),
    "pem in JSON": (json.dumps(BEGIN + LINE + END), LINE),
    "long pem": (BEGIN + "\n".join([LINE] * 200) + END, LINE),
    "pgp": ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\nlQOYBF1234567890\n=AbCd\n", "lQOYBF1234567890"),
    "npm": ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "npm_abcdefghijklmnopqrstuvwxyz0123456789"),
    "pypi": ("pypi-AgEIcHlwaS5vcmcCJDA1234567", "pypi-AgEIcHlwaS5vcmcCJDA1234567"),
    "docker": ("dckr_pat_abcdefghijkl1234567", "dckr_pat_abcdefghijkl1234567"),
    "sendgrid": ("SG.abcdefghijklmnop.qrstuvwxyz1234567890", "SG.abcdefghijklmnop.qrstuvwxyz1234567890"),
    "digitalocean": ("dop_v1_0123456789abcdef", "dop_v1_0123456789abcdef"),
    "google": ("ya29.a0AfH6SMBx1234567890", "ya29.a0AfH6SMBx1234567890"),
    "google client": ("GOCSPX-abcdefghij1234567890", "GOCSPX-abcdefghij1234567890"),
    "signature": ("https://b.s3.amazonaws.com/x?X-Amz-Signature=fe5f80f77d5fa3beca03", "fe5f80f77d5fa3beca03"),
    "in a URL": ("postgres://admin:hunter-two@db.corp:5432/x", "hunter-two"),
}


@pytest.mark.parametrize("kind", SECRETS)
def test_secret_is_found_without_its_field(kind: str) -> None:
    text, secret = SECRETS[kind]
    assert secret in set(secrets_in(text))


FORMS = {
    "webhook of Slack": ("https://hooks.slack.com/services/T0/B0/abcDEFsecret", "abcDEFsecret"),
    "trigger of Slack": ("https://hooks.slack.com/triggers/T0/123/abcDEFsecret", "abcDEFsecret"),
    "IBAN in lower case": ("de89370400440532013000 and", "370400440532"),
    "IBAN in groups": ("DE89-3704-0044-0532-0130-00", "3704"),
    "IBAN before a word": ("FR14 2004 1010 0505 0001 3M02 606 and", "2004"),
    "IPv6 in upper case": ("at 2001:DB8::8A2E:370:7334.", "8A2E"),
    "telephone": ("call 0171 1234567", "1234567"),
    "telephone with a slash": ("call 030/1234567.", "1234567"),
    "telephone with dots": ("415.555.2671", "2671"),
    "telephone with 0 in brackets": ("+49 (0)171 1234567", "1234567"),
    "international address": ("mail zoë@müller.de", "zoë"),
    "international host": ("mail zoe@exämple.de", "exämple"),
    "quoted address": ('"john doe"@corp.de', "doe"),
    "address with an apostrophe": ("o'brien@corp.de", "brien"),
    "login of Jira": ("[~mkrystof] wrote", "mkrystof"),
    "owner at GitHub": ("https://github.com/vexacorp and", "vexacorp"),
    "owner in an SSH address": ("git@github.com:vexacorp/x.git", "vexacorp"),
}


@pytest.mark.parametrize("kind", FORMS)
def test_word_of_another_form_is_replaced(kind: str) -> None:
    text, word = FORMS[kind]
    redacted = Redaction([*sensitive_in(text), *known_names(text)], Pseudonyms(b"salt")).text(text)
    assert word.lower() not in redacted.lower()


@pytest.mark.parametrize(
    "text",
    [
        "The password is wrong. max_tokens: 4096, token: string, secret: required",
        "At 12:30:45 on 01.02.2026 and ::1, version 0.12.3, bearer of news, basic authentication",
        "std::vector, 5:4, a::b, https://github.com/features/x",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert not [word.word for word in sensitive_in(text)]


def test_marks_of_keys_are_read_in_linear_time() -> None:
    assert not list(secrets_in("-----BEGIN RSA PRIVATE KEY-----" * 3_000 + "password " * 30_000))
