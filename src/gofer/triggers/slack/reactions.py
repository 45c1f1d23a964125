"""What does an emoji on a message mean: the start of a run, or that one is to stop?"""

from gofer.canonical import as_object, as_text
from gofer.events import Actor, Event
from gofer.triggers.door import Ignored, Stop
from gofer.triggers.slack.delivery import Delivery, is_bot
from gofer.triggers.slack.stops import STOP_SIGNS, stop_sign


def reaction_added(delivery: Delivery) -> Event | Stop | Ignored:
    """An emoji that somebody put on a message; one run for each person, message and emoji."""
    event, item = delivery.event, as_object(delivery.event.get("item"))
    if not delivery.own_user:
        return delivery.ignored("the delivery does not say who Gofer is there")
    if delivery.is_own(event) or is_bot(event):
        return delivery.ignored("Gofer or another program added it")
    if item.get("type") != "message":
        return delivery.ignored("it is not on a message")
    user, full = as_text(event.get("user")), as_text(event.get("reaction"))
    emoji = full.partition("::")[0]
    team, channel, ts = delivery.team, as_text(item.get("channel")), as_text(item.get("ts"))
    if not (team and user and emoji and channel and ts):
        return delivery.ignored("it lacks a team, a user, an emoji, a channel or a ts")
    if emoji in STOP_SIGNS:
        return stop_sign(team, channel, ts, Actor(user))
    return Event(
        source="slack",
        kind="slack.reaction",
        identity=(team, channel, ts, emoji, user),
        # Of the message: two people who react to one message are dealt with one after the other.
        conversation=f"slack:{team}:{channel}:{ts}",
        actor=Actor(user),
        text=f":{emoji}:",
        # Slack does not say in which thread the message is; who reads it finds out.
        place={"team": team, "channel": channel, "ts": ts, "thread_ts": ts, "reaction": emoji, "user": user},
        private=delivery.private(channel, ""),
        facts={"channel_id": channel, "emoji": [emoji] if emoji == full else [emoji, full]},
    )
