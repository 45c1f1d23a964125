"""Answers in Slack: messages in the thread of a run, messages that only one person sees, and messages about runs."""

from collections.abc import Mapping

from gofer.sources.part_values import Details, OwnCall
from gofer.sources.slack.parts import compose, split
from gofer.sources.slack.source_context import thread_of
from gofer.sources.source import Answers, Channels, Messages, PrivateWords
from gofer.values.events import Event
from gofer.workflows.schema import Reply

POST = "slack_post_message"
EDIT = "slack_update_message"
DELETE = "slack_delete_message"
ATTACH = "slack_post_file"
IN_PLACE = "slack_post_ephemeral"
DIRECT = "slack_post_direct"


def _thread(thread: str) -> Mapping[str, object]:
    """Return the argument for a thread; empty for a message in the channel itself."""
    if not thread:
        return {}
    return {"thread_ts": thread}


def _write(event: Event, thread: str, text: str) -> OwnCall:
    return OwnCall(POST, {"text": text, **_thread(thread)})


def _below(posted: Details) -> str:
    match posted:
        case {"ts": str(ts)}:
            return ts
        case _:
            return ""


def _edit(posted: Details, text: str) -> OwnCall:
    return OwnCall(EDIT, {"text": text, "channel": posted["channel"], "ts": posted["ts"]})


def _delete(posted: Details) -> OwnCall:
    return OwnCall(DELETE, {"channel": posted["channel"], "ts": posted["ts"]})


def _attach(thread: str, name: str, text: str) -> OwnCall:
    return OwnCall(ATTACH, {"name": name, "text": text, **_thread(thread)})


def _identity(event: Event, posted: Details, thread: str) -> tuple[str, ...]:
    match posted:
        case {"channel": str(channel), "ts": str(ts)}:
            return channel, thread or ts
        case _:
            return ()


def _in_place(thread: str, text: str) -> OwnCall:
    return OwnCall(IN_PLACE, {"text": text, "thread_ts": thread})


def _direct(text: str) -> OwnCall:
    return OwnCall(DIRECT, {"text": text})


def private_tools(reply: str) -> tuple[str, ...]:
    """Return the tools that a run calls by itself for an answer that only one person sees."""
    match reply:
        case "dm":
            return (DIRECT,)
        case "ephemeral":
            return (IN_PLACE,)
        case _:
            return ()


def channel_of(owner: str) -> str:
    """Return the channel that a workflow's `owner` names; empty for an owner without a channel."""
    if not owner.startswith("#"):
        return ""
    return owner


def _post(channel: str, text: str) -> OwnCall:
    return OwnCall(POST, {"text": text, "channel": channel})


_SENTENCES: Mapping[Reply, str] = {
    "thread": "Your answer is a reply there.",
    "channel": "Your answer is a message in the channel.",
    "dm": "Your answer is a direct message to them.",
    "ephemeral": "Only they see your answer.",
}


def _sentence(event: Event, reply: Reply) -> str:
    if event.kind in ("slack.mention", "slack.direct", "slack.message"):
        return _SENTENCES.get(reply, "")
    return ""


ANSWERS = Answers(
    compose,
    _write,
    (POST, EDIT, ATTACH, DELETE),
    _sentence,
    messages=Messages(thread_of, _below, _edit, _delete, _attach, _identity),
    private=PrivateWords(split, _in_place, _direct),
)
CHANNELS = Channels(channel_of, _post)
