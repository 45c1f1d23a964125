"""The deliveries of Slack: events in channels, and presses of buttons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import override

from gofer.sources.receiver import Arrival, RawRequest, Receiver, Registering, is_form, refuse_unverified
from gofer.sources.receiver_spec import SECONDS, EventSpec, OwnAccount, ReceiverSpec
from gofer.sources.settings import SourceSettings
from gofer.sources.slack import interactivity
from gofer.sources.slack.delivery import text_as_seen
from gofer.sources.slack.identities import former_events, sending
from gofer.sources.slack.interactivity import INTERACTIONS, InteractivityReceiver
from gofer.sources.slack.receiver import SlackReceiver
from gofer.sources.slack.settings import (
    API_URL,
    APP_TOKEN,
    BOT_TOKEN,
    CLIENT_ID,
    CLIENT_SECRET,
    SIGNING_SECRETS,
    TEAM_IDS,
    WORKSPACE_URL,
    confused,
    missing,
)
from gofer.values.canonical_json import as_object, as_text, decode
from gofer.values.outside import HttpRequest


def _request(settings: SourceSettings) -> HttpRequest | None:
    token = settings[BOT_TOKEN]
    if not token:
        return None
    headers = {"Authorization": f"Bearer {token.reveal()}"}
    return HttpRequest("POST", f"{settings[API_URL]}auth.test", headers, timeout=SECONDS)


def _account_of(answer: Mapping[str, object]) -> frozenset[str]:
    return frozenset(filter(None, (as_text(answer.get(name)) for name in ("team_id", "enterprise_id", "user_id"))))


def _url_of(answer: Mapping[str, object]) -> str:
    return as_text(answer.get("url"))


# No warning is needed here: `app.identify` makes the same request next and reports its errors.
ACCOUNT = OwnAccount("Slack", TEAM_IDS, _request, _account_of, is_needed=False)
SITE = OwnAccount("Slack", WORKSPACE_URL, _request, _url_of, is_needed=False)


PATH = "/slack/events"


@dataclass(frozen=True, slots=True)
class _EitherReceiver(Receiver):
    """The receiver of payloads from files, which chooses between Slack's two receivers by the payload."""

    @override
    def verify(self, request: RawRequest, now: float) -> None:
        refuse_unverified(request, now)

    @override
    def translate(self, request: RawRequest) -> Arrival:
        if _interacts(request.body):
            return InteractivityReceiver(()).translate(request)
        return SlackReceiver(()).translate(request)


def _interacts(body: bytes) -> bool:
    return is_form(body) or as_text(as_object(decode(body)).get("type")) in INTERACTIONS


def _receivers(settings: SourceSettings, window: Registering | None) -> Mapping[str, Receiver]:
    secrets = settings[SIGNING_SECRETS]
    if not secrets:
        return {}
    return {
        PATH: SlackReceiver(secrets, settings[TEAM_IDS]),
        interactivity.PATH: InteractivityReceiver(secrets, settings[TEAM_IDS]),
    }


def _clause(fact: str, wanted: Sequence[str]) -> str:
    match fact:
        case "bot":
            return "takes nothing from bots, because its `who` does not name them"
        case "reply" if "false" in wanted:
            return "takes no replies in threads, because `replies` is not set"
        case "reply" | "followed":
            return (
                "takes messages without a mention only as replies in threads that it answered in, and none that begins "
                "with the mention of somebody else (`follow_ups`)"
            )
        case "edited":
            return "takes no mention that an edit added"
        case _:
            return ""


def _written(fact: str, words: Sequence[str]) -> Sequence[str]:
    """Return names of channels as `"#deploys"`, and other words unchanged."""
    if fact != "channels":
        return words
    return [f'"#{word}"' if word.strip("*") and not word.isupper() else word for word in words]


EVENTS = EventSpec(
    places={"channel_id": "channels", "channels": "channels"},
    # The place of this event is the created channel.
    place_of_kind={"slack.channel_created": "name"},
    read_later={"channels": "the name of the channel", "followed": "the earlier answers in this thread"},
    clause=_clause,
    written=_written,
    said=text_as_seen,
    former=former_events,
    sending=sending,
)
SLACK = ReceiverSpec(
    source="slack",
    system="Slack",
    path=PATH,
    secret=SIGNING_SECRETS,
    make=_receivers,
    unverified=_EitherReceiver(),
    token=BOT_TOKEN,
    acts_with=(BOT_TOKEN, API_URL, WORKSPACE_URL),
    events=EVENTS,
    account=ACCOUNT,
    site=SITE,
    sent_at=("event_time",),
    listens_with=APP_TOKEN,
    serves_with=(CLIENT_ID, CLIENT_SECRET),
    more_paths=(interactivity.PATH,),
    missing=missing,
    confused=confused,
)
