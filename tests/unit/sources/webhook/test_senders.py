"""Well-known senders: a delivery that is signed as each sender documents it passes the receiver of the table's form."""

import base64
import hmac
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import jwt
import pytest

from generators.vocabularies import DOCUMENTS
from gofer.sources.webhook.hook import Hook, read_hooks
from gofer.sources.webhook.jwt_bearer import JwtProof
from gofer.sources.webhook.senders import ADDRESS, SENDERS, Sender, differing, written
from gofer.values.secret import Secret
from gofer.workflows.form import fill
from gofer.workflows.webhook_form import AuthForm, HmacForm, WebhookForm, compile_hooks
from gofer.workflows.yaml_source import read_source
from support.sources.webhook_calls import SECRET, Headers, Reception, signed
from support.stand_ins import NOON

BODY = b'{"id": "7", "event_id": "7", "eventId": "7", "update_id": 7, "event": {"id": "7"}, "action": {"id": "7"}}'
TIME = str(int(NOON))
MILLISECONDS = str(int(NOON * 1000))
ISO = datetime.fromtimestamp(NOON, UTC).strftime("%Y-%m-%dT%H:%M:%S")
KEY = base64.b64encode(b"the bytes of a key").decode()

pytestmark = pytest.mark.anyio

Sign = Callable[[bytes], Headers]
"""Returns the headers of a body, as the sender documents them."""


def mac(text: bytes, algorithm: str = "sha256", key: bytes = SECRET.encode()) -> bytes:
    return hmac.new(key, text, algorithm).digest()


def hexed(text: bytes, algorithm: str = "sha256") -> str:
    return mac(text, algorithm).hex()


def based(text: bytes, algorithm: str = "sha256", key: bytes = SECRET.encode()) -> str:
    return base64.b64encode(mac(text, algorithm, key)).decode()


def basic(body: bytes) -> Headers:
    return [("Authorization", "Basic " + base64.b64encode(f"gofer:{SECRET}".encode()).decode())]


def bearer(body: bytes) -> Headers:
    return [("Authorization", f"Bearer {SECRET}")]


def slack_form(name: str, time: str) -> Sign:
    return lambda body: [(name, "v0=" + hexed(f"v0:{TIME}:".encode() + body)), (time, TIME)]


def monday(body: bytes) -> Headers:
    claims = {"accountId": 1, "userId": 2, "aud": ADDRESS, "exp": int(NOON) + 300, "iat": int(NOON)}
    return [("Authorization", jwt.encode(claims, SECRET, "HS256"))]


SIGNED: dict[str, Sign] = {
    "Airtable": lambda body: [
        ("X-Airtable-Content-MAC", "hmac-sha256=" + mac(body, key=base64.b64decode(KEY)).hex()),
    ],
    "Asana": lambda body: [("X-Hook-Signature", hexed(body))],
    "Auth0 log streams": lambda body: [("Authorization", SECRET)],
    "Azure DevOps": basic,
    "Bitbucket": lambda body: [("X-Hub-Signature", "sha256=" + hexed(body)), ("X-Request-UUID", "7")],
    "Buildkite": lambda body: [
        ("X-Buildkite-Signature", f"timestamp={TIME},signature={hexed(TIME.encode() + b'.' + body)}")
    ],
    "Calendly": lambda body: [("Calendly-Webhook-Signature", f"t={TIME},v1={hexed(TIME.encode() + b'.' + body)}")],
    "CircleCI": lambda body: [("circleci-signature", f"v1={hexed(body)},v2=00")],
    "Clerk, Resend and others by Svix": lambda body: [
        (name.replace("webhook-", "svix-"), value) for name, value in signed(body, key=SECRET.encode())
    ],
    "Datadog": bearer,
    "DocuSign Connect": lambda body: [("X-DocuSign-Signature-1", based(body))],
    "Dropbox": lambda body: [("X-Dropbox-Signature", hexed(body))],
    "GitLab": lambda body: [("X-Gitlab-Token", SECRET), ("Idempotency-Key", "7")],
    "Grafana alerting": bearer,
    "Greenhouse": lambda body: [("Signature", "sha256 " + hexed(body))],
    "HubSpot": lambda body: [
        ("X-HubSpot-Signature-v3", based(f"POST{ADDRESS}".encode() + body + MILLISECONDS.encode())),
        ("X-HubSpot-Request-Timestamp", MILLISECONDS),
    ],
    "Intercom": lambda body: [("X-Hub-Signature", "sha1=" + hexed(body, "sha1"))],
    "Linear": lambda body: [("Linear-Signature", hexed(body)), ("Linear-Delivery", "7")],
    "Meta and WhatsApp": lambda body: [("X-Hub-Signature-256", "sha256=" + hexed(body))],
    "Microsoft Teams, outgoing webhook": lambda body: [
        ("Authorization", "HMAC " + based(body, key=base64.b64decode(KEY)))
    ],
    "monday.com app": monday,
    "Okta event hooks": lambda body: [("Authorization", SECRET)],
    "Opsgenie": bearer,
    "Paddle": lambda body: [("Paddle-Signature", f"ts={TIME};h1={hexed(TIME.encode() + b':' + body)}")],
    "PagerDuty": lambda body: [("X-PagerDuty-Signature", f"v1={hexed(b'an older secret')},v1={hexed(body)}")],
    "Sanity": lambda body: [
        (
            "sanity-webhook-signature",
            f"t={MILLISECONDS},v1="
            + base64.urlsafe_b64encode(mac(MILLISECONDS.encode() + b"." + body)).decode().rstrip("="),
        ),
        ("idempotency-key", "7"),
    ],
    "Sentry": lambda body: [("Sentry-Hook-Signature", hexed(body)), ("Request-ID", "7")],
    "Shopify": lambda body: [("X-Shopify-Hmac-Sha256", based(body)), ("X-Shopify-Webhook-Id", "7")],
    "Slack, events of another app": slack_form("X-Slack-Signature", "X-Slack-Request-Timestamp"),
    "Square": lambda body: [("x-square-hmacsha256-signature", based(ADDRESS.encode() + body))],
    "Stripe": lambda body: [
        ("Stripe-Signature", f"t={TIME},v1={hexed(b'an older secret')},v1={hexed(TIME.encode() + b'.' + body)},v0=00")
    ],
    "Telegram": lambda body: [("X-Telegram-Bot-Api-Secret-Token", SECRET)],
    "Terraform Cloud": lambda body: [("X-TFE-Notification-Signature", hexed(body, "sha512"))],
    "Trello": lambda body: [("X-Trello-Webhook", based(body + ADDRESS.encode(), "sha1"))],
    "Twilio": basic,
    "Twitch EventSub": lambda body: [
        ("Twitch-Eventsub-Message-Id", "7"),
        ("Twitch-Eventsub-Message-Timestamp", f"{ISO}.123456789Z"),
        ("Twitch-Eventsub-Message-Signature", "sha256=" + hexed(f"7{ISO}.123456789Z".encode() + body)),
    ],
    "Typeform": lambda body: [("Typeform-Signature", "sha256=" + based(body))],
    "Vercel": lambda body: [("x-vercel-signature", hexed(body, "sha1"))],
    "WooCommerce": lambda body: [("X-WC-Webhook-Signature", based(body)), ("X-WC-Webhook-Delivery-ID", "7")],
    "Zendesk": lambda body: [
        ("X-Zendesk-Webhook-Signature", based(f"{ISO}Z".encode() + body)),
        ("X-Zendesk-Webhook-Signature-Timestamp", f"{ISO}Z"),
        ("X-Zendesk-Webhook-Invocation-Id", "7"),
    ],
    "Zoom": slack_form("x-zm-signature", "x-zm-request-timestamp"),
}
FITTING = [sender for sender in SENDERS if sender.auth is not None]


def named(sender: Sender) -> str:
    return sender.name


def hook_of(sender: Sender, folder: Path) -> Hook:
    """Return the hook of a workflow file into which the row of the table was copied."""
    path = folder / "w.yaml"
    key = f"\nkey: {sender.key}" if sender.key else ""
    path.write_text(f"name: new-hire\nauth: {sender.written()}{key}\n")
    form, mistakes = fill(read_source(path), WebhookForm)
    assert form is not None, mistakes
    hmac_form = sender.auth.hmac if sender.auth else None
    secret = KEY if hmac_form and hmac_form.secret == "base64" else SECRET
    before = base64.b64encode(b"the bytes of the key before, which was rotated").decode()
    (hook,) = read_hooks(compile_hooks([(path, form)]), {"": [Secret(before), Secret(secret)]})
    return hook


@pytest.mark.parametrize("sender", FITTING, ids=named)
async def test_delivery_that_a_well_known_sender_signed_starts_one_run(sender: Sender, tmp_path: Path) -> None:
    reception = Reception([hook_of(sender, tmp_path)], JwtProof)
    headers = SIGNED[sender.name](BODY)
    assert [await reception.send(BODY, headers), await reception.send(BODY, headers)] == [200, 200]
    assert len(await reception.store.heads(1000)) == 1


@pytest.mark.parametrize("sender", FITTING, ids=named)
async def test_delivery_in_the_name_of_a_well_known_sender_is_refused_without_its_secret(
    sender: Sender, tmp_path: Path
) -> None:
    reception = Reception([hook_of(sender, tmp_path)], JwtProof)
    headers = SIGNED[sender.name](BODY)
    assert await reception.send(BODY) == 401
    for number, (name, value) in enumerate(headers):
        forged = [*headers[:number], (name, re.sub(r"\w(?==*(?:[,;]|$))", "é", value)), *headers[number + 1 :]]
        if name.lower() in written_headers(sender):
            assert await reception.send(BODY, forged) == 401
    if sender.auth is not None and sender.auth.hmac is not None:
        assert await reception.send(BODY.replace(b"7", b"8"), headers) == 401
    if "{timestamp}" in sender.written() or sender.written() == "standard":
        reception.clock.advance(302)
        assert await reception.send(BODY, headers) == 401


def written_headers(sender: Sender) -> set[str]:
    """Return the headers that prove a delivery. The id alone proves nothing in most forms."""
    if sender.written() in ("standard", "bearer", "basic"):
        return {"authorization", "svix-signature", "svix-id", "svix-timestamp"}
    return {name.lower() for name, _ in SIGNED[sender.name](b"") if name.lower() in sender.written().lower()}


def test_each_sender_has_a_row_and_each_row_without_auth_says_why() -> None:
    page = (DOCUMENTS / "webhooks.md").read_text()
    for sender in SENDERS:
        assert sender.row() in page
        assert sender.auth is not None or sender.note
    assert len({sender.name for sender in SENDERS}) == len(SENDERS) >= 40
    assert set(SIGNED) == {sender.name for sender in FITTING}


def test_form_of_a_sender_is_written_in_the_notation_of_workflow_files() -> None:
    stripe = next(sender for sender in FITTING if sender.name == "Stripe")
    assert stripe.auth is not None
    assert written(stripe.auth) == "{hmac: {header: Stripe-Signature}}"
    in_full = HmacForm(header="Stripe-Signature", prefix="v1=", template="{timestamp}.{body}", timestamp_prefix="t=")
    assert stripe.auth.hmac == in_full
    other = AuthForm(
        hmac=HmacForm(header="X-Signature", prefix="v1=", template="{timestamp}.{body}", timestamp_prefix="t=")
    )
    assert written(other) == (
        '{hmac: {header: X-Signature, prefix: "v1=", template: "{timestamp}.{body}", timestamp_prefix: "t="}}'
    )


def test_body_of_these_tests_has_every_key_of_the_table() -> None:
    found = json.loads(BODY)
    assert {sender.key.split("/")[1] for sender in FITTING if sender.key.startswith("/")} <= found.keys()


@pytest.mark.parametrize(
    ("form", "senders"),
    [
        (HmacForm(header="Stripe-Signature"), []),
        (HmacForm(header="Stripe-Signature", prefix="v0="), ["Stripe"]),
        (HmacForm(header="X-Hub-Signature"), ["Bitbucket", "Intercom"]),
        (HmacForm(header="x-hub-signature", prefix="sha256="), []),
        (
            HmacForm(
                header="X-Square-HmacSha256-Signature",
                encoding="base64",
                template="https://gofer.acme.com/hooks/p{body}",
            ),
            [],
        ),
        (HmacForm(header="X-Signature"), []),
        (HmacForm(header="Authorization"), []),
    ],
)
def test_header_of_a_well_known_sender_in_another_form_is_noticed(form: HmacForm, senders: list[str]) -> None:
    assert [sender.name for sender in differing(AuthForm(hmac=form))] == senders
