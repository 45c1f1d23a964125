"""The translation of posts in Slack: mentions, messages, direct messages, and requests to stop a run.

Slack delivers a mention in a channel twice, as `app_mention` and as `message`. Both have the same identity.
"""

import re
from collections.abc import Iterable

from gofer.sources.receiver import Ignored, PossibleFeedback, Stop, incomplete, lacking
from gofer.sources.slack.delivery import Delivery, Fields, is_bot
from gofer.sources.slack.feedback import feedback_in_words
from gofer.sources.slack.identities import conversation, with_former
from gofer.sources.slack.message_text import SUBTYPES, read
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.events import Actor, Event

TEXT_LIMIT = 4_000
"""The most characters of a message that its event holds. A run reads the whole message from its thread."""
_ALONE = frozenset({"im", "app_home"})
"""The types of conversations between one person and Gofer."""
_TO_ANOTHER = re.compile(r"[\s*_~]*(?::[^\s:<>]{1,100}:[\s*_~]*)*<(?:@|!(?:subteam\^|here|channel|everyone|group)\b)")
"""The beginning of a message to a person, a group, an app or everyone: their mention, after emoji or not."""
_MOST_HOPS = 1_000
_LONGEST_ID = 100
"""The most characters of the id that the program of a sender gives a message."""
_TS = re.compile(r"[0-9]{1,12}\.[0-9]{1,9}", re.ASCII)


def app_mention(delivery: Delivery) -> Event | PossibleFeedback | Ignored:
    """Return the event of a mention, including a mention that an edit added. A reply may be feedback instead."""
    if ignored := _not_a_new_post(delivery, delivery.event):
        return ignored
    if _only_carries_mention(delivery, delivery.event):
        return delivery.ignored("not_a_new_message", "only a message that it forwards or attaches mentions Gofer")
    return _or_feedback(delivery, _post(delivery, delivery.event, "slack.mention"))


def message(delivery: Delivery) -> Event | Stop | PossibleFeedback | Ignored:
    """Return the meaning of a new, edited or deleted message."""
    event = delivery.event
    is_direct = as_text(event.get("channel_type")) in _ALONE
    unknown = delivery.unknown_self()
    # Whom a direct message addresses needs no look at its text.
    if unknown and not is_direct:
        return unknown
    match event.get("subtype"):
        case "message_changed":
            return _changed(delivery)
        case "message_deleted":
            return deleted(delivery, as_text(event.get("deleted_ts")), as_object(event.get("previous_message")))
        case _:
            pass
    if ignored := _not_a_new_post(delivery, event):
        return ignored
    if event.get("edited") and not _mentions(delivery, event):
        return delivery.ignored("not_a_new_message", "it is an edit of an earlier message")
    return _or_feedback(delivery, _post(delivery, event, _kind(delivery, event)))


def _or_feedback(delivery: Delivery, post: Event | Ignored) -> Event | PossibleFeedback | Ignored:
    """Return a post as possible feedback if it is a reply that begins with an emoji."""
    match post:
        case Event():
            return feedback_in_words(delivery, post) or post
        case Ignored():
            return post


def _changed(delivery: Delivery) -> Event | Stop | Ignored:
    """Return the event of an edit that adds a mention.

    Slack's own changes, such as a preview of a link, never count.
    """
    now = as_object(delivery.event.get("message"))
    before = as_object(delivery.event.get("previous_message"))
    if now.get("subtype") == "tombstone":
        # Slack reports a deleted message that still has replies as an edit.
        return deleted(delivery, as_text(now.get("ts")), before)
    if not now:
        return delivery.ignored("incomplete", "it is an edit that lacks the edited message")
    if ignored := _not_a_new_post(delivery, now, hidden=False):
        return ignored
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
    if _mentions(delivery, post):
        return "slack.mention"
    return "slack.message"


def _not_a_new_post(delivery: Delivery, post: Fields, *, hidden: bool = True) -> Ignored | None:
    """Return the decision for a post that is not a new message by another account; None if it is one."""
    subtype = as_text(post.get("subtype"))
    if delivery.is_own(post):
        return delivery.ignored("own_act", "Gofer wrote it", post)
    if post.get("user") == "USLACKBOT":
        return delivery.ignored("other_bot", "Slack wrote it", post)
    if subtype and SUBTYPES.reader(subtype) is None:
        reason = f"messages of subtype {subtype[:40]!r} start nothing {SUBTYPES.named(subtype[:40])}"
        return Ignored("not_a_new_message", reason, delivery.actor(post), "messages of its subtype start nothing")
    if hidden and post.get("hidden"):
        return delivery.ignored("not_a_new_message", "it is a hidden message, which people do not see", post)
    return None


def _post(delivery: Delivery, post: Fields, kind: str) -> Event | Ignored:
    actor = delivery.actor(post)
    channel = as_text(post.get("channel"))
    ts = as_text(post.get("ts"))
    missing = lacking({"a team": delivery.team, "a user": actor, "a channel": channel, "a ts": ts})
    if missing or actor is None:
        return delivery.ignored("incomplete", missing, post)
    thread_ts = as_text(post.get("thread_ts")) or ts
    return Event(
        source="slack",
        kind=kind,
        identity=(channel, ts),
        conversation=conversation(channel, thread_ts),
        actor=actor,
        text=_said(post, actor)[:TEXT_LIMIT],
        place={**delivery.teams, "channel": channel, "ts": ts, "thread_ts": thread_ts, **_sent_as(post)},
        private=delivery.private(channel, as_text(post.get("channel_type"))),
        facts=_facts(post, actor, channel, reply=thread_ts != ts) | _follows(post, kind),
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


def _sent_as(post: Fields) -> dict[str, str]:
    sent = as_text(post.get("client_msg_id"))[:_LONGEST_ID]
    if not (sent and _TS.fullmatch(as_text(post.get("ts")))):
        return {}
    return {"client_msg_id": sent}


def _follows(post: Fields, kind: str) -> dict[str, object]:
    """Return the fact that a message follows no answer of Gofer's, because it begins with the mention of another."""
    if kind == "slack.message" and _TO_ANOTHER.match(read(post).written):
        return {"followed": False}
    return {}


def _said(post: Fields, actor: Actor) -> str:
    """Return the text of a post. Only apps speak through attachments; what people forward are the words of others."""
    said = read(post)
    if actor.kind == "bot":
        return "\n".join(said.texts)
    return said.written


def _mentions(delivery: Delivery, post: Fields) -> bool:
    """Return whether the author of a post mentions Gofer. What the post forwards or attaches does not count."""
    return _names_gofer(delivery, read(post).written)


def _only_carries_mention(delivery: Delivery, post: Fields) -> bool:
    said = read(post)
    return not _names_gofer(delivery, said.written) and _names_gofer(delivery, "\n".join(said.texts))


def _names_gofer(delivery: Delivery, text: str) -> bool:
    return any(f"<@{user}>" in text or f"<@{user}|" in text for user in delivery.own_users)


def _hops(post: Fields) -> int:
    """Return the number of runs in a row that led to a post.

    A message by a run has the run's number in its metadata.
    """
    payload = as_object(as_object(post.get("metadata")).get("event_payload"))
    hops = payload.get("hops")
    if not is_bot(post) or isinstance(hops, bool) or not isinstance(hops, int):
        return 0
    return min(max(hops, 0), _MOST_HOPS) + 1


STOP_SIGNS = frozenset({"octagonal_sign", "stop_sign", "black_square_for_stop", "no_entry", "no_entry_sign"})
"""The emoji with which an asker stops a run, on the message that the run is about or on a message by Gofer."""
_POSTS = ("slack.mention", "slack.message", "slack.direct")


def deleted(delivery: Delivery, ts: str, before: Fields) -> Stop | Ignored:
    """Return the stop of the runs that a deleted message started. They also remove their progress messages."""
    channel = as_text(delivery.event.get("channel"))
    actor = delivery.actor(before)
    if delivery.is_own(before):
        return Ignored("own_act", "a message of Gofer's was deleted", actor)
    if lacking := incomplete({"a channel": channel, "a ts of the deleted message": ts}, actor):
        return lacking
    stop = Stop(
        by="the deletion of the message that asked for it",
        item=f"deleted {channel}:{ts}",
        source="slack",
        kinds=_POSTS,
        identity=(channel, ts),
        silent=True,
        actor=actor,
    )
    return with_former(stop, delivery.teams.values())


def stop_sign(channel: str, ts: str, actor: Actor, teams: Iterable[str] = ()) -> Stop:
    """Return the stop by a person who put a stop sign on a message. It stops runs that this person started there."""
    stop = Stop(
        by="the person who asked",
        item=f"stop sign {channel}:{ts}:{actor.id}",
        source="slack",
        conversation=conversation(channel, "*"),
        of=actor.id,
        on=ts,
        actor=actor,
    )
    return with_former(stop, teams)


def session_stopped(delivery: Delivery) -> Stop | Ignored:
    """Return the stop by a person who pressed Stop while Gofer was working."""
    event = delivery.event
    channel = as_text(event.get("channel"))
    thread_ts = as_text(event.get("thread_ts"))
    when = as_text(event.get("event_ts"))
    actor = delivery.actor(event)
    if lacking := incomplete({"a channel": channel, "a thread": thread_ts}, actor):
        return lacking
    stop = Stop(
        by="a press on Stop",
        item=f"session {channel}:{thread_ts}:{when}",
        source="slack",
        conversation=conversation(channel, thread_ts),
        actor=actor,
    )
    return with_former(stop, delivery.teams.values())
