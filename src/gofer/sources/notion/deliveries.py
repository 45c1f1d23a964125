"""The deliveries of Notion: what happens to pages, and the secret that it registers."""

from collections.abc import Mapping, Sequence

from gofer.sources.notion.own_account import ACCOUNT
from gofer.sources.notion.receiver import NotionReceiver
from gofer.sources.notion.settings import BASE_URL, BOT_ID, TOKEN, WEBHOOK_SECRETS
from gofer.sources.receiver import Receiver, Registering
from gofer.sources.receiver_spec import EventSpec, ReceiverSpec
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


def _found(fact: str, words: Sequence[str]) -> Sequence[str]:
    # Ids are among the facts with dashes and without. Conditions have them without.
    return [word for word in words if fact != "database_id" or "-" not in word]


EVENTS = EventSpec(
    places={"database_id": "database", "database": "database"},
    changes=("status",),
    read_later={
        "database": "the name of the database",
        "database_id": "the database",
        "status": "the earlier status of the page",
    },
    found=_found,
)
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
    events=EVENTS,
    account=ACCOUNT,
)
