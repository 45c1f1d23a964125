"""Questions to people in Slack: where one is put, how it is closed, and the look-ups of the people who decide."""

from collections.abc import Mapping, Sequence

from gofer.sources.part_values import Details, OwnCall
from gofer.sources.slack.answers import channel_of
from gofer.sources.slack.question import moment
from gofer.sources.source import Approvals
from gofer.values.canonical_json import as_object, as_text
from gofer.values.events import Event

ASK = "slack_ask_approval"
ASK_ONE = "slack_ask_requester"
CLOSE = "slack_close_question"
MAY_DECIDE = "slack_may_decide"
TELL = "slack_tell_one"
GROUPS = "slack_find_groups"


def _here(event: Event) -> Mapping[str, object]:
    return {name: event.place[name] for name in ("thread_ts",) if name in event.place}


def _channel(owner: str) -> Mapping[str, object] | None:
    channel = channel_of(owner)
    if not channel:
        return None
    return {"channel": channel}


def is_direct(event: Event) -> bool:
    """Return whether an event happened in a direct message."""
    return event.place.get("channel", "").startswith("D")


def _close(asked: Details, ending: str, shown: Mapping[str, object] | None) -> OwnCall | None:
    match asked:
        case {"channel": str(channel), "ts": str(ts)}:
            fields: dict[str, object] = {"channel": channel, "ts": ts, "ending": ending}
        case _:
            return None
    if shown:
        fields["asked"] = shown
    return OwnCall(CLOSE, fields)


def _may_decide(user: str, by: Sequence[str], requester: str) -> OwnCall:
    return OwnCall(MAY_DECIDE, {"user": user, "by": list(by), "requester": requester})


def _groups(handles: Sequence[str]) -> OwnCall:
    return OwnCall(GROUPS, {"names": list(handles)})


def _tell(user: str, text: str, place: Mapping[str, object]) -> OwnCall:
    return OwnCall(TELL, {"user": user, "text": text, **place})


APPROVALS = Approvals(
    here=_here,
    channel=_channel,
    is_direct=is_direct,
    ask=lambda fields: OwnCall(ASK, fields),
    ask_one=lambda fields: OwnCall(ASK_ONE, fields),
    close=_close,
    may_decide=_may_decide,
    allowed=lambda details: details.get("allowed") is True,
    decider=lambda details: as_text(details.get("name")),
    groups=_groups,
    group_ids=lambda details: as_object(details.get("ids")),
    tell=_tell,
    moment=moment,
    tools=(ASK, ASK_ONE, CLOSE, MAY_DECIDE, TELL),
    group_tools=(GROUPS,),
)
