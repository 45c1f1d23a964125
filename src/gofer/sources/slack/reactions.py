"""Translates an emoji on a message: an event, or the wish to stop a run."""

from gofer.sources.receiver import Ignored, Stop
from gofer.sources.slack.delivery import Delivery, is_bot
from gofer.sources.slack.stops import STOP_SIGNS, stop_sign
from gofer.values.canonical_json import as_object, as_text
from gofer.values.events import Actor, Event


def reaction_added(delivery: Delivery) -> Event | Stop | Ignored:
    """An emoji that somebody put on a message; one run for each person, message and emoji."""
    event, item = delivery.event, as_object(delivery.event.get("item"))
    if not delivery.own_user:
        return delivery.ignored("own_account_unknown", "the delivery does not say who Gofer is there")
    if delivery.is_own(event):
        return delivery.ignored("own_act", "Gofer added it")
    if is_bot(event):
        return delivery.ignored("other_bot", "a bot added it")
    if not item.get("type"):
        return delivery.ignored("incomplete", "it lacks an item")
    if item.get("type") != "message":
        return delivery.ignored("not_a_message", "it is not on a message")
    user, full = as_text(event.get("user")), as_text(event.get("reaction"))
    emoji = full.partition("::")[0]
    team, channel, ts = delivery.team, as_text(item.get("channel")), as_text(item.get("ts"))
    needed = {"a team": team, "a user": user, "an emoji": emoji, "a channel": channel, "a ts": ts}
    if lacking := delivery.incomplete(needed):
        return lacking
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
