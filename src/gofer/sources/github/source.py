"""The source GitHub: an event is about an issue or pull request, and the answer is a comment on it."""

import re
from collections.abc import Sequence
from dataclasses import replace

from gofer.journal.entries import ToolResult
from gofer.sources.github.api import GitHubApi
from gofer.sources.github.event_actions import LABELED
from gofer.sources.github.identifying_words import IDENTIFYING
from gofer.sources.github.receiver import of_private_repository
from gofer.sources.github.settings import API_URL, TOKEN
from gofer.sources.github.shown_text import position
from gofer.sources.github.tools import TOOLS
from gofer.sources.listed_places import entry, is_named
from gofer.sources.part_values import Details, Known, OwnCall, Person, SourceContext, Standpoint
from gofer.sources.settings import SourceSettings
from gofer.sources.source import Answers, Places, Reading, Source
from gofer.sources.subject import (
    comment_there,
    context_of_event,
    needs_subject,
    one_comment,
    subject_context,
    subject_gone,
)
from gofer.tools.declare import bind_all
from gofer.tools.definition import AnyTool
from gofer.tools.places import Place
from gofer.values.canonical_json import as_list, as_object, as_text, indented
from gofer.values.events import Actor, Event
from gofer.workflows.schema import Reply

_APP = re.compile(r"[\w.-]+(?:\[bot\])?", re.ASCII)


def _opening(event: Event) -> str:
    # A label is text by people, so it does not stand here.
    actions = [one for one in _actions(event) if not one.startswith(f"{LABELED} ")]
    return f"On GitHub, {_noun(event)}: {', '.join(actions) or _pushed(event)}{_doer(event.actor)}."


def _actions(event: Event) -> list[str]:
    return [as_text(one) for one in as_list(event.facts.get("action"))]


def _noun(event: Event) -> str:
    if event.place.get("thread"):
        return "review comment on a pull request"
    if event.kind == "github.comment":
        return "comment on a pull request" if event.place.get("is_pull") else "comment on an issue"
    return event.kind.partition(".")[2].replace("_", " ")


def _pushed(event: Event) -> str:
    if event.facts.get("created"):
        return "a new branch"
    return "forced, so that commits were replaced" if event.facts.get("forced") else "new commits"


def _doer(actor: Actor) -> str:
    match actor.kind:
        case "bot":
            return f", by the GitHub app {actor.id}" if _APP.fullmatch(actor.id) else ", by a GitHub app"
        case "anonymous":
            return ", by an account that GitHub no longer names"
        case _:
            return ""


def _sentence(event: Event, reply: Reply) -> str:
    if event.place.get("thread"):
        return "Your answer is a reply in its review thread."
    return comment_there(event, reply)


def _subject(event: Event) -> OwnCall | None:
    if not _has_number(event):
        return None
    tool = "github_get_pull_request"
    if event.kind == "github.issue" or (event.kind == "github.comment" and not event.place.get("thread")):
        # To GitHub, a pull request is an issue too. The tool finds out, and reads the comments on both.
        tool = "github_get_issue"
    return OwnCall(tool, {"repository": event.place.get("repository", ""), "number": int(event.place["number"])})


def _from_event(event: Event, person: Person) -> SourceContext:
    known = (f"{name.title()}: {event.facts[name]}" for name in ("repository", "branch") if name in event.facts)
    lines = (*known, event.place.get("url", ""))
    return context_of_event(replace(event, text="\n".join((*filter(None, lines), "", event.text))), _opening(event))


def _read(event: Event, person: Person, result: ToolResult) -> SourceContext:
    return subject_context(event, result, _opening(event), above=_stands(event))


def _stands(event: Event) -> str:
    """Return where a review comment stands, with its piece of the diff, or the new label; empty for other events."""
    labels = [one.removeprefix(f"{LABELED} ") for one in _actions(event) if one.startswith(f"{LABELED} ")]
    if labels:
        return "\n".join(("The new label:", *indented(", ".join(labels)), "It is on:"))
    comment = as_object(event.facts.get("review_comment"))
    if not comment:
        return ""
    hunk = indented(as_text(comment.get("diff_hunk")))
    diff = ", in this piece of the diff:" if hunk else ", the whole file."
    return "\n".join((f"On {position(comment)}{diff}", *hunk, "The review comment:"))


def _has_number(event: Event) -> bool:
    # The event of a push has no issue or pull request, and a deleted issue can be neither read nor answered.
    is_deleted = event.kind == "github.issue" and "deleted" in _actions(event)
    return bool(event.place.get("number")) and not is_deleted


def _comment(event: Event, thread: str, text: str) -> OwnCall:
    where: dict[str, object] = {"repository": event.place.get("repository", ""), "number": int(event.place["number"])}
    if began := event.place.get("thread"):
        where["review_comment"] = int(began)
    return OwnCall("github_add_comment", {"text": text, **where})


def _look(place: Place, seen_from: Standpoint) -> Known:
    name = place.name.casefold()
    listed = name in map(str.casefold, seen_from.writes.entries("github"))
    return Known(listed=listed, named=is_named(name, seen_from.words.casefold()))


def _found(place: Place, seen_from: Standpoint, details: Details) -> Known:
    return _look(place, seen_from)


def _is_public(event: Event) -> bool:
    return not of_private_repository(event)


READING = Reading(
    call=_subject,
    read=_read,
    need=needs_subject,
    tools=("github_get_issue", "github_get_pull_request"),
    gone=subject_gone("gone"),
    # GitHub answers the same for a repository that was deleted and for one to which Gofer's token has no access.
    hidden=frozenset({"not_found"}),
)
ANSWERS = Answers(one_comment, _comment, ("github_add_comment",), _sentence, has_place=_has_number)
PLACES = Places(_look, _found, entry)


def _tools(settings: SourceSettings) -> Sequence[AnyTool]:
    return bind_all(TOOLS, GitHubApi(settings[API_URL], settings[TOKEN]), "GitHub")


GITHUB = Source(
    "github",
    "GitHub",
    _from_event,
    READING,
    answers=ANSWERS,
    places=PLACES,
    open_to_outsiders=_is_public,
    tools=_tools,
    sites=(API_URL,),
    identifying=IDENTIFYING,
)
