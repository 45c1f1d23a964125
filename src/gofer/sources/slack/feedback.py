"""The translation of reactions and replies in Slack that may be feedback on an answer of Gofer's."""

import re

from gofer.sources.receiver import PossibleFeedback
from gofer.sources.slack.delivery import Delivery, is_bot, text_as_seen
from gofer.values.canonical_json import as_object, as_text
from gofer.values.events import Actor, Event

_TS = re.compile(r"([0-9]{1,10})\.([0-9]{6})", re.ASCII)
_BEGINS = re.compile(r"\s*(?:<@(?P<user>[A-Z0-9]+)(?:\|[^>]*)?>\s*)?:(?P<emoji>[^\s:]{1,100}):(?::skin-tone-[2-6]:)?")
"""The beginning of a message: an emoji, after a mention or not."""
_TO_ALL = ("<!channel", "<!here", "<!everyone")


def possible_feedback(delivery: Delivery, *, withdrawn: bool, event: Event | None = None) -> PossibleFeedback | None:
    """Return a reaction on a message of Gofer's as possible feedback; None for a reaction on anything else.

    Slack names the author of each message that an app posted with its token, and so of each answer.
    """
    fields = delivery.event
    item = as_object(fields.get("item"))
    names = (as_text(item.get("channel")), as_text(item.get("ts")))
    user = as_text(fields.get("user"))
    emoji = as_text(fields.get("reaction"))
    at = _microseconds(as_text(fields.get("event_ts")))
    is_on_answer = as_text(fields.get("item_user")) in delivery.own_users
    if not is_on_answer or is_bot(fields) or item.get("type") != "message":
        return None
    if not all(names) or not user or not emoji or not at:
        return None
    former = [(team, *names) for team in delivery.teams.values()]
    return PossibleFeedback("slack", names, emoji, Actor(user), at, withdrawn=withdrawn, event=event, former=former)


def feedback_in_words(delivery: Delivery, post: Event) -> PossibleFeedback | None:
    """Return a reply as possible feedback if it begins with an emoji; None for every other message."""
    begins = _BEGINS.match(post.text)
    at = _microseconds(post.place["ts"])
    if begins is None or not at or post.actor.kind == "bot" or not post.facts.get("reply"):
        return None
    words = post.text[begins.end() :].strip()
    # What is for the whole channel is for Gofer too.
    to_another = post.facts.get("followed") is False and not words.startswith(_TO_ALL)
    if begins["user"] not in (None, *delivery.own_users) or to_another:
        return None
    names = (post.place["channel"], post.place["thread_ts"])
    return PossibleFeedback(
        "slack",
        names,
        begins["emoji"],
        post.actor,
        at,
        in_thread=True,
        words=text_as_seen(words).strip(),
        event=post,
        former=[(team, *names) for team in delivery.teams.values()],
    )


def _microseconds(ts: str) -> int:
    """Return a timestamp of Slack as unix microseconds; 0 for any other text."""
    found = _TS.fullmatch(ts)
    if found is None:
        return 0
    return int(found[1]) * 1_000_000 + int(found[2])
