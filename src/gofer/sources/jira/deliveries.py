"""The deliveries of Jira: what happens to issues."""

from collections.abc import Mapping

from gofer.sources.jira.own_account import ACCOUNT
from gofer.sources.jira.receiver import JiraReceiver
from gofer.sources.jira.settings import ACCOUNT_ID, API_TOKEN, BASE_URL, EMAIL, WEBHOOK_SECRETS
from gofer.sources.receiver import Receiver, Registering
from gofer.sources.receiver_spec import EventSpec, ReceiverSpec
from gofer.sources.settings import SourceSettings

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
)
