"""The deliveries of Notion: events on pages, and the offer of the verification token."""

from collections.abc import Mapping, Sequence

from gofer.sources.notion.receiver import NotionReceiver
from gofer.sources.notion.settings import BASE_URL, BOT_ID, TOKEN, VERSION, WEBHOOK_SECRETS
from gofer.sources.receiver import Receiver, Registering
from gofer.sources.receiver_spec import SECONDS, EventSpec, OwnAccount, ReceiverSpec, Registration
from gofer.sources.settings import SourceSettings
from gofer.values.canonical_json import as_text
from gofer.values.outside import HttpRequest


def _request(settings: SourceSettings) -> HttpRequest | None:
    token = settings[TOKEN]
    if not token:
        return None
    headers = {"Authorization": f"Bearer {token.reveal()}", "Notion-Version": VERSION}
    return HttpRequest("GET", f"{settings[BASE_URL]}/v1/users/me", headers, timeout=SECONDS)


def _account_of(answer: Mapping[str, object]) -> str:
    return as_text(answer.get("id"))


ACCOUNT = OwnAccount("Notion", BOT_ID, _request, _account_of)


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
    # Facts contain each id with and without dashes, and conditions only without.
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
    # For payloads from files, an offered token is always shown as an offer, so the window counts as open.
    unverified=NotionReceiver((), registration=_always),
    token=TOKEN,
    acts_with=(TOKEN, BASE_URL, BOT_ID),
    events=EVENTS,
    account=ACCOUNT,
    sent_at=("timestamp",),
    registration=Registration("verification token", "notion-verification-token", "Notion's Webhooks tab"),
)
