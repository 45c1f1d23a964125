"""The source context of a Slack event: what it refers to, and how a model is told what happened."""

import re
from collections.abc import Mapping

from gofer.engine.asker import Person
from gofer.engine.conditions import DoesNotMatch
from gofer.engine.step import Outcome, Permitted, Step
from gofer.engine.surfaces import SourceContext
from gofer.engine.unmet_needs import CHANNEL, THREAD, Need, stopped
from gofer.journal.entries import MATERIAL, ToolResult
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import as_text
from gofer.values.events import Event

RECENT = 20
"""Messages of a channel that are read when what happened is about the channel and not about a message."""
_DELETED = frozenset({"message_not_found", "thread_not_found"})
"""Codes of Slack for a message that is not there."""
_GONE = "the message that it is about was deleted"
_NAMED = re.compile(r"<@[UW][A-Z0-9]+(?:\|[^>]*)?>")
_NO_EMOJI = re.compile(r"[^a-z0-9_+'-]")


async def slack_source_context(step: Step, event: Event, person: Person, provenance: Provenance) -> SourceContext:
    """Read the thread or the channel of an event.

    Raises DoesNotMatch when the message of the event was deleted, RunStopped, Cancelled, OutOfTime.
    """
    if event.kind == "slack.channel_created":
        # Gofer is not in it yet, and nothing has been said there.
        name = str(event.facts.get("name", ""))
        happened = _told(event, person, name)
        return SourceContext(happened, "", event.private is not False, facts=_channels(event, name))
    if "ts" in event.place:
        need, name, arguments = THREAD, "slack_read_thread", {"ts": event.place["ts"]}
    else:
        need, name, arguments = CHANNEL, "slack_read_channel", {"limit": RECENT}
    tool = step.services.tools[name]
    outcome = await step.call(Permitted(MATERIAL, tool, tool.parse(arguments), arguments), provenance)
    return _material(event, person, outcome, need)


def thread_of(step: Step, event: Event) -> str:
    """The ts of the thread in which an event is answered; empty for one that is about no message."""
    match step.progress.outcomes.get(MATERIAL):
        case ToolResult(status="ok", details={"thread_ts": str(thread_ts)}) if event.source == "slack":
            # A reaction does not say in which thread its message stands.
            return thread_ts
        case _:
            return event.place.get("thread_ts", "")


def _material(event: Event, person: Person, outcome: Outcome, need: Need) -> SourceContext:
    match outcome:
        case ToolResult(status="ok", details={"deleted": True}):
            raise DoesNotMatch(_GONE)
        case ToolResult(status="ok", text=read, details=found):
            details = found or {}
            # The more careful of two sources wins.
            private = event.private is True or details.get("private") is not False
            channel = str(details.get("channel", ""))
            happened = _told(event, person, channel)
            words = as_text(details.get("words")) or _NAMED.sub("@unknown user", event.text)
            return SourceContext(
                happened=happened,
                read=read,
                private=private,
                words=words,
                author=_name(person),
                facts=_channels(event, channel),
                header=as_text(details.get("header")),
                addressed=_replied(event, person),
            )
        case ToolResult(details={"code": code}) if code in _DELETED and "ts" in event.place:
            raise DoesNotMatch(_GONE)
        case _:
            raise stopped(need, outcome, "Slack")


def _channels(event: Event, name: str) -> Mapping[str, object]:
    return {"channels": [name, event.place.get("channel", "")]}


def _name(person: Person) -> str:
    return f"@{person.name}" if person.name else "A person"


def _replied(event: Event, person: Person) -> str:
    """Return what happened where a message without a mention is a request; empty for other events."""
    if event.kind != "slack.message":
        return ""
    ts = event.place.get("ts", "")
    return (
        f"{_name(person)} replied with the message with ts {ts} in a thread that you answered in. "
        "Your answer is a reply there."
    )


def _told(event: Event, person: Person, channel: str) -> str:
    """What happened, in a sentence or two without ids."""
    who = _name(person)
    ts = event.place.get("ts", "")
    match event.kind:
        case "slack.mention":
            return f"{who} mentioned you in the message with ts {ts} of a thread. Your answer is a reply there."
        case "slack.direct":
            return (
                f"{who} wrote to you directly, in the message with ts {ts} of a thread. Your answer is a reply there."
            )
        case "slack.reaction":
            emoji = _NO_EMOJI.sub("", event.place.get("reaction", ""))
            return f"{who} put :{emoji}: on the message with ts {ts} of this thread."
        case "slack.channel_created":
            return f"{who} created the public channel #{' '.join(channel.split())[:80]}."
        case "slack.member_joined":
            joined = "You were invited" if event.facts.get("member") == "gofer" else f"{who} came"
            return f"{joined} to #{channel}. The newest messages there follow."
        case _:
            return f"{who} wrote the message with ts {ts} of this thread; nobody mentioned you."
