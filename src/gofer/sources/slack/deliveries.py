"""The deliveries of Slack: what happens in channels, and the buttons that people press."""

from collections.abc import Mapping
from dataclasses import dataclass

from gofer.sources.receiver import Arrival, RawRequest, Receiver, Registering, is_form, refuse_unverified
from gofer.sources.receiver_spec import ReceiverSpec
from gofer.sources.settings import SourceSettings
from gofer.sources.slack import interactivity
from gofer.sources.slack.interactivity import INTERACTIONS, InteractivityReceiver
from gofer.sources.slack.own_account import ACCOUNT
from gofer.sources.slack.receiver import SlackReceiver
from gofer.sources.slack.settings import (
    API_URL,
    APP_TOKEN,
    BOT_TOKEN,
    CLIENT_ID,
    CLIENT_SECRET,
    SIGNING_SECRETS,
    TEAM_IDS,
    confused,
    missing,
)
from gofer.values.canonical_json import as_object, as_text, decode

PATH = "/slack/events"


@dataclass(frozen=True, slots=True)
class _EitherReceiver:
    """Both receivers of Slack for payloads that a person has in a file; the payload says which of them takes it."""

    def verify(self, request: RawRequest, now: float) -> None:
        """See Receiver.verify."""
        refuse_unverified(request, now)

    def translate(self, request: RawRequest) -> Arrival:
        """See Receiver.translate."""
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
        PATH: SlackReceiver(secrets),
        interactivity.PATH: InteractivityReceiver(secrets, settings[TEAM_IDS]),
    }


SLACK = ReceiverSpec(
    source="slack",
    system="Slack",
    path=PATH,
    secret=SIGNING_SECRETS,
    make=_receivers,
    unverified=_EitherReceiver(),
    token=BOT_TOKEN,
    acts_with=(BOT_TOKEN, API_URL),
    account=ACCOUNT,
    listens_with=APP_TOKEN,
    serves_with=(CLIENT_ID, CLIENT_SECRET),
    more_paths=(interactivity.PATH,),
    missing=missing,
    confused=confused,
)
