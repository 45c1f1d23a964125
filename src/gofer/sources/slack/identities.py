"""The names of messages and conversations in Slack: the channel and the ts, whatever workspace delivers them.

Until decision 100, the names began with the workspace of the delivery. Rows from then still have such names, so each
look-up also asks for them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gofer.sources.receiver import Stop
from gofer.sources.receiver_spec import Sending
from gofer.values.events import Event

_BEGIN = "slack:"


def conversation(channel: str, thread: str = "") -> str:
    """Return the name of a thread, or of a channel as a whole."""
    return _BEGIN + ":".join(filter(None, (channel, thread)))


def former_events(event: Event) -> Sequence[Event]:
    """Return the event as earlier versions named it. A message outside a thread is its own conversation."""
    if _named_before(event):
        return ()
    teams = _teams(event)
    if event.facts.get("reply") is False:
        return [replace(event, identity=(team, *event.identity)) for team in teams]
    return [
        replace(event, identity=(team, *event.identity), conversation=_before(event.conversation, team))
        for team in teams
    ]


def with_former(stop: Stop, teams: Iterable[str]) -> Stop:
    """Return a stop that also finds the runs of earlier versions."""
    former = [
        replace(
            stop,
            identity=(team, *stop.identity) if stop.identity else (),
            conversation=_before(stop.conversation, team) if stop.conversation else "",
        )
        for team in teams
    ]
    return replace(stop, former=tuple(former))


def message_of(event: Event) -> Sequence[str]:
    """Return the coordinates of the message that an event is about, in the form of the event's version."""
    if "ts" not in event.place:
        return event.source, event.conversation
    return event.source, *_named_before(event), event.place.get("channel", ""), event.place["ts"]


def sending(event: Event) -> Sending | None:
    """Return the id that the sender's program gave a message, with its channel and sender; None if it gave none.

    After a bad connection, the program may send a message again. Slack then posts it twice, with two ts.
    """
    sent = event.place.get("client_msg_id", "")
    if not sent:
        return None
    key = (event.place.get("channel", ""), event.actor.id, sent)
    return Sending(key, int(event.place["ts"].partition(".")[0]))


def _teams(event: Event) -> tuple[str, ...]:
    teams = (event.place.get("team", ""), event.place.get("outer_team", ""))
    return tuple(filter(None, teams))


def _named_before(event: Event) -> Sequence[str]:
    """Return the workspace in the identity of an event from an earlier version; empty for other events."""
    first = event.identity[:1]
    if first and first[0] in _teams(event):
        return first
    return ()


def _before(name: str, team: str) -> str:
    return f"{_BEGIN}{team}:{name.removeprefix(_BEGIN)}"
