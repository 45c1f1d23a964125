"""Well-known senders of webhooks: the `auth` that fits each, or the reason why none does.

The table of docs/webhooks.md is made from this list, `gofer check` compares workflow files with it, and a test signs a
delivery of each sender as the sender documents it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from gofer.workflows.webhook_form import AuthForm, BasicForm, HmacForm, JwtForm, Plain, TokenForm

ADDRESS = "https://gofer.example.com/hooks/name"
"""The address of a webhook in the signed text of senders that sign it."""


@dataclass(frozen=True, slots=True)
class Sender:
    """One sender."""

    name: str
    auth: AuthForm | None
    """The fitting `auth`; None if none fits."""
    key: str = ""
    """The fitting `key`; empty if the sender gives calls no id."""
    note: str = ""
    """What else the reader must know, in sentences."""

    def written(self) -> str:
        """Return the `auth` as a workflow file has it, on one line; empty if none fits."""
        if self.auth is None:
            return ""
        return written(self.auth)

    def row(self) -> str:
        """Return the row of the table."""
        auth = "none"
        if self.auth is not None:
            auth = f"`{self.written()}`"
        key = ""
        if self.key:
            key = f"`{self.key}`"
        return f"| {self.name} | {auth} | {key} | {self.note} |"


def written(auth: AuthForm) -> str:
    """Return a form as a workflow file has it, on one line."""
    if auth.hmac is not None and auth.hmac == HmacForm(header=auth.hmac.header):
        return f"{{hmac: {{header: {auth.hmac.header}}}}}"
    ((kind, fields),) = auth.model_dump(exclude_defaults=True, exclude_none=True).items()
    if not fields:
        return kind
    return f"{{{kind}: {{{', '.join(f'{name}: {_value(value)}' for name, value in fields.items())}}}}}"


def table() -> str:
    """Return all senders as a table in Markdown."""
    head = "| sender | `auth` | `key` | to know |\n|---|---|---|---|"
    return "\n".join([head, *(sender.row() for sender in sorted(SENDERS, key=lambda sender: sender.name.lower()))])


def differing(auth: AuthForm) -> Sequence[Sender]:
    """Return the senders with the header of a form, if the form is that of none of them."""
    with_header = [one for one in SENDERS if one.auth is not None and _header(one.auth) == _header(auth) != ""]
    if any(_compared(one.written()) == _compared(written(auth)) for one in with_header):
        return []
    return with_header


def _header(auth: AuthForm) -> str:
    form = auth.hmac or auth.token
    if form is None or form.header.lower() == "authorization":
        return ""
    return form.header.lower()


def _compared(written: str) -> str:
    """Return a form without the differences of the company's own address."""
    return re.sub(r"https?://[^{\"]*", "", written).lower()


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(cast(tuple[str, ...], value))}]"
    text = str(value)
    if re.fullmatch(r"[A-Za-z0-9][\w./-]*", text):
        return text
    return f'"{text}"'


def _hmac(header: str, **more: Any) -> AuthForm:
    return AuthForm(hmac=HmacForm(header=header, **more))


def _token(header: str) -> AuthForm:
    return AuthForm(token=TokenForm(header=header))


_STANDARD = AuthForm(standard=Plain())
_BEARER = AuthForm(bearer=Plain())
_BASIC = AuthForm(basic=BasicForm())
_IN_ADDRESS = f"Write user and secret into the address: `{ADDRESS.replace('//', '//gofer:SECRET@')}`."
_OWN_HEADER = "Add the header `Authorization` with `Bearer SECRET`."

SENDERS: Sequence[Sender] = (
    Sender("Adyen", None, note="It signs fields of each item inside the body."),
    Sender(
        "Airtable",
        _hmac("X-Airtable-Content-MAC"),
        note="The secret is `macSecretBase64` of the answer that created the webhook. A call says only that something "
        "changed.",
    ),
    Sender("Amazon SNS", None, note="It signs with a certificate, and a GET must confirm the address."),
    Sender(
        "Asana",
        _hmac("X-Hook-Signature"),
        note="Gofer answers the handshake. Set any secret first, then the `X-Hook-Secret` of the answer that created "
        "the webhook.",
    ),
    Sender("Auth0 log streams", _token("Authorization"), note="The secret is the authorization token, as it is."),
    Sender("Azure DevOps", _BASIC, "/id", "Enter the secret as the password of basic authentication."),
    Sender("Bitbucket", _hmac("X-Hub-Signature", prefix="sha256="), "X-Request-UUID"),
    Sender("Buildkite", _hmac("X-Buildkite-Signature")),
    Sender("Calendly", _hmac("Calendly-Webhook-Signature"), note="The secret is the `signing_key`."),
    Sender("CircleCI", _hmac("circleci-signature"), "/id"),
    Sender("Clerk, Resend and others by Svix", _STANDARD, note="The secret begins with `whsec_`."),
    Sender("Datadog", _BEARER, note='Custom headers: `{"Authorization": "Bearer SECRET"}`.'),
    Sender("Discord", None, note="It signs with Ed25519."),
    Sender("DocuSign Connect", _hmac("X-DocuSign-Signature-1")),
    Sender("Dropbox", _hmac("X-Dropbox-Signature"), note="Gofer answers the challenge. The secret is the app secret."),
    Sender(
        "GitLab",
        _token("X-Gitlab-Token"),
        "Idempotency-Key",
        "With a signing token (`whsec_`) write `standard` instead.",
    ),
    Sender("Grafana alerting", _BEARER, note="Authorization header: scheme `Bearer`, the secret as credentials."),
    Sender("Greenhouse", _hmac("Signature", prefix="sha256 ")),
    Sender(
        "HubSpot",
        _hmac(
            "X-HubSpot-Signature-v3",
            encoding="base64",
            template=f"POST{ADDRESS}{{body}}{{timestamp}}",
            timestamp_header="X-HubSpot-Request-Timestamp",
        ),
        note="Write your address into `template`. The secret is the client secret.",
    ),
    Sender(
        "Intercom",
        _hmac("X-Hub-Signature", prefix="sha1=", algorithm="sha1"),
        "/id",
        "The secret is the client secret.",
    ),
    Sender("Jotform", None, note="It sends no proof."),
    Sender("Linear", _hmac("Linear-Signature"), "Linear-Delivery"),
    Sender("Mailgun", None, note="Its signature is in the body and covers no content."),
    Sender(
        "Meta and WhatsApp",
        _hmac("X-Hub-Signature-256", prefix="sha256="),
        note="Set two secrets with a comma between: the app secret, then the verify token. Gofer answers "
        "`hub.challenge`.",
    ),
    Sender(
        "Microsoft Graph",
        None,
        note="Gofer answers `validationToken`, but the proof (`clientState`) is in the body. Power Automate can "
        "stand between.",
    ),
    Sender(
        "Microsoft Teams, outgoing webhook",
        _hmac("Authorization", prefix="HMAC ", encoding="base64", secret="base64"),  # noqa: S106 (an encoding)
        "/id",
    ),
    Sender(
        "monday.com app",
        AuthForm(jwt=JwtForm(audience=ADDRESS, algorithms=("HS256",))),
        note="Write your address as `audience`. The secret is the signing secret of the app that creates the webhook. "
        "Gofer answers the challenge.",
    ),
    Sender("monday.com, webhook of a board's integration", None, note="It sends no proof."),
    Sender("Okta event hooks", _token("Authorization"), "/eventId", "Gofer answers the verification."),
    Sender("Opsgenie", _BEARER, note=_OWN_HEADER),
    Sender("Paddle", _hmac("Paddle-Signature"), "/event_id"),
    Sender("PagerDuty", _hmac("X-PagerDuty-Signature"), "/event/id"),
    Sender("PayPal", None, note="It signs with a certificate."),
    Sender("Sanity", _hmac("sanity-webhook-signature"), "idempotency-key"),
    Sender("SendGrid Event Webhook", None, note="It signs with ECDSA."),
    Sender("Sentry", _hmac("Sentry-Hook-Signature"), "Request-ID", "The secret is the client secret."),
    Sender(
        "Shopify",
        _hmac("X-Shopify-Hmac-Sha256"),
        "X-Shopify-Webhook-Id",
        "The secret is the client secret.",
    ),
    Sender(
        "Slack, events of another app",
        _hmac("X-Slack-Signature"),
        "/event_id",
        "Gofer answers `url_verification`. The secret is the signing secret.",
    ),
    Sender(
        "Square",
        _hmac("x-square-hmacsha256-signature", encoding="base64", template=f"{ADDRESS}{{body}}"),
        "/event_id",
        "Write your address into `template`.",
    ),
    Sender("Statuspage", None, note="It sends no proof."),
    Sender("Stripe", _hmac("Stripe-Signature"), "/id", "The secret is used as it is, with `whsec_`."),
    Sender("Telegram", _token("X-Telegram-Bot-Api-Secret-Token"), "/update_id"),
    Sender("Terraform Cloud", _hmac("X-TFE-Notification-Signature")),
    Sender(
        "Trello",
        _hmac("X-Trello-Webhook", encoding="base64", algorithm="sha1", template=f"{{body}}{ADDRESS}"),
        "/action/id",
        "Write your address into `template`. Gofer answers its HEAD.",
    ),
    Sender("Twilio", _BASIC, note=f"`X-Twilio-Signature` signs sorted fields, which `hmac` cannot. {_IN_ADDRESS}"),
    Sender(
        "Twitch EventSub",
        _hmac("Twitch-Eventsub-Message-Signature"),
        "Twitch-Eventsub-Message-Id",
        "Gofer answers the challenge.",
    ),
    Sender("Typeform", _hmac("Typeform-Signature"), "/event_id"),
    Sender("Vercel", _hmac("x-vercel-signature"), "/id"),
    Sender("WooCommerce", _hmac("X-WC-Webhook-Signature"), "X-WC-Webhook-Delivery-ID"),
    Sender("X (Twitter)", None, note="Its test wants any text signed, so Gofer does not answer it."),
    Sender(
        "Zendesk",
        _hmac("X-Zendesk-Webhook-Signature"),
        "X-Zendesk-Webhook-Invocation-Id",
    ),
    Sender(
        "Zoom",
        _hmac("x-zm-signature"),
        note="Gofer answers `endpoint.url_validation`. The secret is the secret token.",
    ),
)
