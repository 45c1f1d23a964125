"""The deliveries of Jira: events on issues."""

from base64 import b64encode
from collections.abc import Mapping

from gofer.sources.jira.receiver import JiraReceiver
from gofer.sources.jira.settings import ACCOUNT_ID, API_TOKEN, BASE_URL, EMAIL, WEBHOOK_SECRETS
from gofer.sources.receiver import Receiver, Registering
from gofer.sources.receiver_spec import SECONDS, EventSpec, OwnAccount, ReceiverSpec
from gofer.sources.settings import SourceSettings
from gofer.values.canonical_json import as_text
from gofer.values.outside import HttpRequest


def _request(settings: SourceSettings) -> HttpRequest | None:
    token = settings[API_TOKEN]
    if not settings[BASE_URL] or not token:
        return None
    basic = b64encode(f"{settings[EMAIL]}:{token.reveal()}".encode()).decode()
    headers = {"Authorization": f"Basic {basic}", "Accept": "application/json"}
    return HttpRequest("GET", f"{settings[BASE_URL]}/rest/api/3/myself", headers, timeout=SECONDS)


def _account_of(answer: Mapping[str, object]) -> str:
    return as_text(answer.get("accountId"))


ACCOUNT = OwnAccount("Jira", ACCOUNT_ID, _request, _account_of)


PATH = "/jira/webhook"


def _receivers(settings: SourceSettings, window: Registering | None) -> Mapping[str, Receiver]:
    secrets = settings[WEBHOOK_SECRETS]
    if not secrets:
        return {}
    own = tuple(filter(None, [settings[ACCOUNT_ID]]))
    return {PATH: JiraReceiver(secrets, own)}


EVENTS = EventSpec(
    places={"project": "project"},
    conditions={"labels": "label"},
    changes=("changes",),
    read_later={"labels": "the labels"},
)
JIRA = ReceiverSpec(
    source="jira",
    system="Jira",
    path=PATH,
    secret=WEBHOOK_SECRETS,
    make=_receivers,
    unverified=JiraReceiver(()),
    token=API_TOKEN,
    acts_with=(BASE_URL, EMAIL, API_TOKEN, ACCOUNT_ID),
    events=EVENTS,
    account=ACCOUNT,
    sent_at=("timestamp",),
)
