"""Posts in Slack: translates mentions, messages and direct messages, and the ways in which people stop a run.

A mention in a channel comes twice, as `app_mention` and as `message`; the post has one identity in both.
"""

from gofer.sources.receiver import Ignored, Stop, incomplete, lacking
from gofer.sources.slack.delivery import Delivery, Fields, is_bot
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.events import Actor, Event

TEXT_LIMIT = 4_000
"""Characters of a message that its event keeps; a run reads the message itself from its thread."""
_ORDINARY = frozenset({"", "file_share", "thread_broadcast", "me_message", "bot_message"})
"""Subtypes of messages that were written just now."""
_ALONE = frozenset({"im", "app_home"})
"""Kinds of conversation between one person and Gofer."""
_MOST_HOPS = 1_000


def app_mention(delivery: Delivery) -> Event | Ignored:
    """A mention, also one that an edit of the message added."""
    if nothing := _says_nothing(delivery, delivery.event):
        return nothing
    return _post(delivery, delivery.event, "slack.mention")


def message(delivery: Delivery) -> Event | Stop | Ignored:
    """A message, an edit of one, or that one was deleted."""
    event = delivery.event
    if not delivery.own_user:
        return delivery.ignored("own_account_unknown", "the delivery does not say who Gofer is there")
    match event.get("subtype"):
        case "message_changed":
            return _changed(delivery)
        case "message_deleted":
            return deleted(delivery, as_text(event.get("deleted_ts")), as_object(event.get("previous_message")))
        case _:
            pass
    if nothing := _says_nothing(delivery, event):
        return nothing
    if event.get("edited") and not _mentions(delivery, event):
        return delivery.ignored("not_a_new_message", "it is an edit of an earlier message")
    return _post(delivery, event, _kind(delivery, event))


def _changed(delivery: Delivery) -> Event | Stop | Ignored:
    """An edit counts when it adds the mention; what Slack itself changes, such as a preview of a link, never does."""
    now, before = as_object(delivery.event.get("message")), as_object(delivery.event.get("previous_message"))
    if now.get("subtype") == "tombstone":
        # How Slack tells of a deletion where replies stay.
        return deleted(delivery, as_text(now.get("ts")), before)
    if not now:
        return delivery.ignored("incomplete", "it is an edit that lacks the edited message")
    if nothing := _says_nothing(delivery, now, hidden=False):
        return nothing
    if not before:
        return delivery.ignored("incomplete", "it is an edit that lacks the message as it was before", now)
    if _mentions(delivery, before) or not _mentions(delivery, now):
        return delivery.ignored("not_a_new_message", "it is an edit that does not add a mention of Gofer", now)
    if as_text(delivery.event.get("channel_type")) in _ALONE:
        return delivery.ignored("not_a_new_message", "it is an edit of a direct message", now)
    whole = {"channel": delivery.event.get("channel"), "channel_type": delivery.event.get("channel_type"), **now}
    return _post(delivery, {**whole, "edited": True}, "slack.mention")


def _kind(delivery: Delivery, post: Fields) -> str:
    if as_text(post.get("channel_type")) in _ALONE:
        return "slack.direct"
    return "slack.mention" if _mentions(delivery, post) else "slack.message"


def _says_nothing(delivery: Delivery, post: Fields, *, hidden: bool = True) -> Ignored | None:
    """Return why a post is not a message that an account wrote just now; None when it is one."""
    subtype = as_text(post.get("subtype"))
    if delivery.is_own(post):
        return delivery.ignored("own_act", "Gofer wrote it", post)
    if post.get("user") == "USLACKBOT":
        return delivery.ignored("other_bot", "Slack wrote it", post)
    if subtype not in _ORDINARY:
        reason = f"messages of subtype {subtype[:40]!r} start nothing"
        return Ignored("not_a_new_message", reason, delivery.actor(post), "messages of its subtype start nothing")
    if hidden and post.get("hidden"):
        return delivery.ignored("not_a_new_message", "it is a hidden message, which people do not see", post)
    return None


def _post(delivery: Delivery, post: Fields, kind: str) -> Event | Ignored:
    team, actor = delivery.team, delivery.actor(post)
    channel, ts = as_text(post.get("channel")), as_text(post.get("ts"))
    said = lacking({"a team": team, "a user": actor, "a channel": channel, "a ts": ts})
    if said or actor is None:
        return delivery.ignored("incomplete", said, post)
    thread_ts = as_text(post.get("thread_ts")) or ts
    return Event(
        source="slack",
        kind=kind,
        identity=(team, channel, ts),
        conversation=f"slack:{team}:{channel}:{thread_ts}",
        actor=actor,
        text=as_text(post.get("text"))[:TEXT_LIMIT],
        place={"team": team, "channel": channel, "ts": ts, "thread_ts": thread_ts},
        private=delivery.private(channel, as_text(post.get("channel_type"))),
        facts=_facts(post, actor, channel, reply=thread_ts != ts),
        hops=_hops(post),
    )


def _facts(post: Fields, actor: Actor, channel: str, *, reply: bool) -> dict[str, object]:
    return {
        "bot": actor.kind == "bot",
        "channel_id": channel,
        "edited": bool(post.get("edited")),
        "files": bool(as_list(post.get("files"))),
        "reply": reply,
    }


def _mentions(delivery: Delivery, post: Fields) -> bool:
    text, user = as_text(post.get("text")), delivery.own_user
    return bool(user) and (f"<@{user}>" in text or f"<@{user}|" in text)


def _hops(post: Fields) -> int:
    """How many runs stand behind a post: what a run wrote says in its metadata how many stood behind that run."""
    payload = as_object(as_object(post.get("metadata")).get("event_payload"))
    hops = payload.get("hops")
    if not is_bot(post) or isinstance(hops, bool) or not isinstance(hops, int):
        return 0
    return min(max(hops, 0), _MOST_HOPS) + 1


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
    """A person put a stop sign on a message; it stops what this person asked for there."""
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
    """A person pressed Stop while Gofer was at work for them."""
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
