"""Translates how people in Slack stop a run: the button of a session, a stop sign, deleting their message."""

from gofer.sources.receiver import Ignored, Stop, incomplete
from gofer.sources.slack.delivery import Delivery, Fields
from gofer.values.canonical_json import as_text
from gofer.values.events import Actor

STOP_SIGNS = frozenset({"octagonal_sign", "stop_sign", "black_square_for_stop", "no_entry", "no_entry_sign"})
"""Emoji that stop a run: put by who asked for it, on what it is about or on what Gofer wrote."""
_POSTS = ("slack.mention", "slack.message", "slack.direct")


def deleted(delivery: Delivery, ts: str, before: Fields) -> Stop | Ignored:
    """A message is gone: what it started stops, and takes back that it is at work."""
    team, channel = delivery.team, as_text(delivery.event.get("channel"))
    actor = delivery.actor(before)
    if delivery.is_own(before):
        return Ignored("own_act", "a message of Gofer's was deleted", actor)
    if lacking := incomplete({"a team": team, "a channel": channel, "a ts of the deleted message": ts}, actor):
        return lacking
    return Stop(
        by="the deletion of the message that asked for it",
        item=f"deleted {team}:{channel}:{ts}",
        source="slack",
        kinds=_POSTS,
        identity=(team, channel, ts),
        silent=True,
        actor=actor,
    )


def stop_sign(team: str, channel: str, ts: str, actor: Actor) -> Stop:
    """Somebody put a stop sign on a message; it stops what they themselves asked for there."""
    return Stop(
        by="the person who asked",
        item=f"stop sign {team}:{channel}:{ts}:{actor.id}",
        source="slack",
        conversation=f"slack:{team}:{channel}:*",
        of=actor.id,
        on=ts,
        actor=actor,
    )


def session_stopped(delivery: Delivery) -> Stop | Ignored:
    """Somebody pressed Stop while Gofer was at work for them."""
    event = delivery.event
    team, channel, thread_ts = delivery.team, as_text(event.get("channel")), as_text(event.get("thread_ts"))
    when, actor = as_text(event.get("event_ts")), delivery.actor(event)
    if lacking := incomplete({"a team": team, "a channel": channel, "a thread": thread_ts}, actor):
        return lacking
    return Stop(
        by="a press on Stop",
        item=f"session {team}:{channel}:{thread_ts}:{when}",
        source="slack",
        conversation=f"slack:{team}:{channel}:{thread_ts}",
        actor=actor,
    )
