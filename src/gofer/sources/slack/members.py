"""Translates the creation of a channel, and a member who joins one."""

from gofer.sources.receiver import Ignored
from gofer.sources.slack.delivery import Delivery
from gofer.values.canonical_json import as_object, as_text
from gofer.values.events import Actor, Event


def channel_created(delivery: Delivery) -> Event | Ignored:
    """A public channel that somebody created; once per channel."""
    described = as_object(delivery.event.get("channel"))
    team, channel = delivery.team, as_text(described.get("id"))
    name, creator = as_text(described.get("name")), as_text(described.get("creator"))
    needed = {"a team": team, "an id of the channel": channel, "a name of the channel": name, "a creator": creator}
    if lacking := delivery.incomplete(needed):
        return lacking
    if creator == delivery.own_user:
        return Ignored("own_act", "Gofer created it", Actor(creator, "bot"))
    told_private = any(described.get(flag) is True for flag in ("is_private", "is_im", "is_mpim"))
    return Event(
        source="slack",
        kind="slack.channel_created",
        identity=(team, channel),
        conversation=f"slack:{team}:{channel}",
        actor=Actor(creator),
        text=f"#{name[:80]}",
        place={"team": team, "channel": channel},
        private=True if told_private else None if delivery.shared else False,
        facts={"channel_id": channel, "name": name},
    )


def member_joined(delivery: Delivery) -> Event | Ignored:
    """Somebody who joined a channel, or Gofer when it was invited; once per joining."""
    event = delivery.event
    team, channel, user = delivery.team, as_text(event.get("channel")), as_text(event.get("user"))
    when = as_text(event.get("event_ts"))
    if lacking := delivery.incomplete({"a team": team, "a channel": channel, "a user": user, "a time": when}):
        return lacking
    if not delivery.own_user:
        return delivery.ignored("own_account_unknown", "the delivery does not say who Gofer is there")
    invited = user == delivery.own_user
    # Gofer does not start itself: whoever invited it did that.
    actor = as_text(event.get("inviter")) if invited else user
    if not actor or actor == delivery.own_user:
        return Ignored("own_act", "Gofer joined the channel by itself", Actor(user, "bot"))
    return Event(
        source="slack",
        kind="slack.member_joined",
        identity=(team, channel, user, when),
        conversation=f"slack:{team}:{channel}",
        actor=Actor(actor),
        text="Gofer was invited" if invited else "somebody joined",
        place={"team": team, "channel": channel, "user": user},
        private=True if event.get("channel_type") == "G" else None,
        facts={"channel_id": channel, "member": "gofer" if invited else "person"},
    )
