"""The source context of a Slack event: the call that reads its thread or channel, and the sentences about the event."""

from collections.abc import Mapping

from gofer.journal.entries import ToolResult
from gofer.sources.part_values import Need, Outcome, OwnCall, Person, SourceContext
from gofer.sources.slack.names import Names
from gofer.sources.source import Reading
from gofer.values.canonical_json import as_text, indented
from gofer.values.emoji_names import spelled
from gofer.values.events import Event

RECENT = 20
"""The number of messages that are read when an event is about a channel and not about a message."""
_NO_MEMBER = "I am not a member of this channel. Please invite me and ask again."
_REFUSED = {"not_in_channel": _NO_MEMBER, "channel_not_found": _NO_MEMBER}
THREAD = Need("the thread could not be read", "read this thread", _REFUSED)
CHANNEL = Need("the channel could not be read", "read this channel", _REFUSED)
_CREATED = "slack.channel_created"
_POSTS = ("slack.mention", "slack.message", "slack.direct")
"""The events that the author of their message caused."""
_DELETED = frozenset({"message_not_found", "thread_not_found"})
"""Slack's codes for a message that does not exist."""
_GONE = "the message that it is about was deleted"
READ_THREAD = "slack_read_thread"
READ_CHANNEL = "slack_read_channel"


def context_of_event(event: Event, person: Person) -> SourceContext:
    """Return the source context of a new channel."""
    # Gofer is not a member of the new channel yet, and the channel has no messages.
    name = str(event.facts.get("name", ""))
    return SourceContext(
        _event_sentence(event, _name(event, person), name), "", event.private is not False, facts=_channels(event, name)
    )


def _call(event: Event) -> OwnCall | None:
    if event.kind == _CREATED:
        return None
    if "ts" in event.place:
        return OwnCall(READ_THREAD, {"ts": event.place["ts"]})
    return OwnCall(READ_CHANNEL, {"limit": RECENT})


def _need(event: Event) -> Need:
    if "ts" in event.place:
        return THREAD
    return CHANNEL


def _gone(event: Event, result: ToolResult) -> str:
    match result:
        case ToolResult(status="ok", details={"deleted": True}):
            return _GONE
        case ToolResult(status="ok"):
            return ""
        case ToolResult(details={"code": code}) if code in _DELETED and "ts" in event.place:
            return _GONE
        case _:
            return ""


def _read(event: Event, person: Person, result: ToolResult) -> SourceContext:
    details = result.details or {}
    channel = str(details.get("channel", ""))
    header = as_text(details.get("header"))
    who = _name(event, person, header)
    return SourceContext(
        happened=_event_sentence(event, who, channel),
        read=_with_subject(result),
        # The context is private if either the event or the channel is.
        private=event.private is True or details.get("private") is not False,
        words=as_text(details.get("words")) or Names({}).text(event.text),
        author=who,
        facts=_channels(event, channel),
        header=header,
        addressed=_replied(event, who),
    )


def _with_subject(result: ToolResult) -> str:
    """Return the text of a thread, with the message of the event above it if the preview of a long text lacks it."""
    details = result.details or {}
    lines = [as_text(details.get(name)) for name in ("words", "carried")]
    subject = "\n".join([as_text(details.get("header")), *indented("\n".join(filter(None, lines)))])
    if not details.get("header") or subject in result.text:
        return result.text
    return f"{subject}\n\n{result.text}"


READING = Reading(call=_call, read=_read, need=_need, gone=_gone, tools=(READ_THREAD, READ_CHANNEL))


def thread_of(event: Event, read: Outcome | None) -> str:
    """Return the ts of the thread for the answer to an event; empty for an event that is not about a message.

    `read` is the outcome of reading the source context, or None before the reading.
    """
    match read:
        case ToolResult(status="ok", details={"thread_ts": str(thread_ts)}):
            # The event of a reaction does not hold the thread of its message.
            return thread_ts
        case _:
            return event.place.get("thread_ts", "")


def _channels(event: Event, name: str) -> Mapping[str, object]:
    return {"channels": [name, event.place.get("channel", "")]}


def _name(event: Event, person: Person, header: str = "") -> str:
    """Return the name of who caused an event. A message names people of a connected company whom Slack does not show.

    `header` is the line above the message of the event. An app chooses its name freely, so it is not repeated.
    """
    if person.name:
        return f"@{person.name}"
    if event.actor.kind == "bot":
        return "An app"
    if event.kind in _POSTS and header.startswith("@"):
        return header.rpartition(" at ")[0]
    return "A person"


def _replied(event: Event, who: str) -> str:
    """Return the sentence about a message without a mention that is a request; empty for other events."""
    if event.kind != "slack.message":
        return ""
    ts = event.place.get("ts", "")
    return f"{who} replied with the message with ts {ts} in a thread that you answered in."


def _event_sentence(event: Event, who: str, channel: str) -> str:
    """Return one or two sentences about the event, without ids."""
    ts = event.place.get("ts", "")
    match event.kind:
        case "slack.mention":
            return f"{who} mentioned you in the message with ts {ts} of a thread."
        case "slack.direct":
            return f"{who} wrote to you directly, in the message with ts {ts} of a thread."
        case "slack.reaction":
            emoji = spelled(event.place.get("reaction", ""))
            return f"{who} put :{emoji}: on the message with ts {ts} of this thread."
        case "slack.channel_created":
            return f"{who} created the public channel #{' '.join(channel.split())[:80]}."
        case "slack.member_joined":
            joined = f"{who} joined"
            if event.facts.get("member") == "gofer":
                joined = "You were invited to"
            return f"{joined} #{channel}. The newest messages there follow."
        case _:
            return f"{who} wrote the message with ts {ts} of this thread. It does not mention you."
