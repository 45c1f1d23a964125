"""The deliveries of GitHub: events in repositories."""

from collections.abc import Mapping

from gofer.sources.github.receiver import GitHubReceiver, of_private_repository
from gofer.sources.github.settings import API_URL, LOGIN, TOKEN, WEBHOOK_SECRETS
from gofer.sources.receiver import Receiver, Registering
from gofer.sources.receiver_spec import SECONDS, EventSpec, OwnAccount, ReceiverSpec
from gofer.sources.settings import SourceSettings
from gofer.values.canonical_json import as_text
from gofer.values.outside import HttpRequest


def _request(settings: SourceSettings) -> HttpRequest | None:
    token = settings[TOKEN]
    if not token:
        return None
    headers = {
        "Authorization": f"Bearer {token.reveal()}",
        "Accept": "application/vnd.github+json",
        "User-Agent": "gofer",
    }
    return HttpRequest("GET", f"{settings[API_URL]}/user", headers, timeout=SECONDS)


def _account_of(answer: Mapping[str, object]) -> str:
    return as_text(answer.get("login"))


ACCOUNT = OwnAccount("GitHub", LOGIN, _request, _account_of)


PATH = "/github/webhook"


def _receivers(settings: SourceSettings, window: Registering | None) -> Mapping[str, Receiver]:
    secrets = settings[WEBHOOK_SECRETS]
    if not secrets:
        return {}
    own = frozenset(filter(None, [settings[LOGIN].lower()]))
    return {PATH: GitHubReceiver(secrets, own)}


EVENTS = EventSpec(
    places={"repository": "repository"},
    conditions={"labels": "label"},
    read_later={"labels": "the labels"},
)
GITHUB = ReceiverSpec(
    source="github",
    system="GitHub",
    path=PATH,
    secret=WEBHOOK_SECRETS,
    make=_receivers,
    unverified=GitHubReceiver(()),
    token=TOKEN,
    acts_with=(TOKEN, API_URL, LOGIN),
    account=ACCOUNT,
    events=EVENTS,
    kind_header="X-GitHub-Event: pull_request",
    is_restricted=of_private_repository,
)
