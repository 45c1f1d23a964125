"""The kind of trigger for webhooks."""

from gofer.workflows.webhook_form import WebhookForm
from gofer.workflows.when import TriggerKind, TriggerSpec

WEBHOOK = TriggerSpec(
    kinds=(TriggerKind("webhook", WebhookForm, foreign="hook http url", instead="`webhook: {name: …}`"),)
)
