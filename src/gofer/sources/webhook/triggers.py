"""The kind of triggers of webhooks."""

from collections.abc import Sequence

from gofer.workflows.webhook_form import WebhookForm
from gofer.workflows.when import TriggerKind

KINDS: Sequence[TriggerKind] = (TriggerKind("webhook", WebhookForm),)
