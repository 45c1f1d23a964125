"""The deliveries of Notion: what happens to pages, and the secret that it registers."""

from collections.abc import Mapping

from gofer.sources.notion.own_account import ACCOUNT
from gofer.sources.notion.receiver import NotionReceiver
from gofer.sources.notion.settings import BASE_URL, BOT_ID, TOKEN, WEBHOOK_SECRETS
from gofer.sources.receiver import Receiver, Registering
from gofer.sources.receiver_spec import ReceiverSpec, Registration
from gofer.sources.settings import SourceSettings

PATH = "/notion/webhook"


def _receivers(settings: SourceSettings, window: Registering | None) -> Mapping[str, Receiver]:
    own = tuple(filter(None, [settings[BOT_ID]]))
    if window is not None:
        return {PATH: NotionReceiver(window.secrets, own, window.is_open)}
    if not settings[WEBHOOK_SECRETS]:
        return {}
    return {PATH: NotionReceiver(settings[WEBHOOK_SECRETS], own)}


def _always() -> bool:
    return True


NOTION = ReceiverSpec(
    source="notion",
    system="Notion",
    path=PATH,
    secret=WEBHOOK_SECRETS,
    make=_receivers,
    # As if its window were open: what a token is for does not depend on the moment.
    unverified=NotionReceiver((), registration=_always),
    token=TOKEN,
    acts_with=(TOKEN, BASE_URL, BOT_ID),
    account=ACCOUNT,
    registration=Registration("verification token", "notion-verification-token", "Notion's Webhooks tab"),
)
