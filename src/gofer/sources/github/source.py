"""The source GitHub: an event is about an issue or pull request, and the answer is a comment on it."""

from collections.abc import Sequence

from gofer.journal.entries import ToolResult
from gofer.sources.github.api import GitHubApi
from gofer.sources.github.identifying_words import IDENTIFYING
from gofer.sources.github.settings import API_URL, TOKEN
from gofer.sources.github.tools import TOOLS
from gofer.sources.listed_places import entry
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
from gofer.values.canonical_json import as_list, as_text
from gofer.values.events import Event

_OF_PULLS = frozenset({"github.pull_request", "github.review"})


def _opening(event: Event) -> str:
    actions = ", ".join(as_text(action) for action in as_list(event.facts.get("action")))
    noun = event.kind.partition(".")[2].replace("_", " ")
    return f"On GitHub, {noun}: {actions or 'new'}."


def _subject(event: Event) -> OwnCall | None:
    if not _has_number(event):
        return None
    tool = "github_get_issue"
    if event.kind in _OF_PULLS or event.place.get("is_pull") == "true":
        tool = "github_get_pull_request"
    return OwnCall(tool, {"repository": event.place.get("repository", ""), "number": int(event.place["number"])})


def _from_event(event: Event, person: Person) -> SourceContext:
    return context_of_event(event, _opening(event))


def _read(event: Event, person: Person, result: ToolResult) -> SourceContext:
    return subject_context(event, result, _opening(event))


def _has_number(event: Event) -> bool:
    # The event of a push has no issue or pull request.
    return bool(event.place.get("number"))


def _comment(event: Event, thread: str, text: str) -> OwnCall:
    where = {"repository": event.place.get("repository", ""), "number": int(event.place["number"])}
    return OwnCall("github_add_comment", {"text": text, **where})


def _look(place: Place, seen_from: Standpoint) -> Known:
    return Known(listed=place.name.casefold() in map(str.casefold, seen_from.writes.entries("github")))


def _found(place: Place, seen_from: Standpoint, details: Details) -> Known:
    return _look(place, seen_from)


READING = Reading(
    call=_subject,
    read=_read,
    need=needs_subject,
    tools=("github_get_issue", "github_get_pull_request"),
    gone=subject_gone("gone"),
    # GitHub answers the same for a repository that was deleted and for one to which Gofer's token has no access.
    hidden=frozenset({"not_found"}),
)
ANSWERS = Answers(one_comment, _comment, ("github_add_comment",), comment_there, has_place=_has_number)
PLACES = Places(_look, _found, entry)


def _tools(settings: SourceSettings) -> Sequence[AnyTool]:
    return bind_all(TOOLS, GitHubApi(settings[API_URL], settings[TOKEN]), "GitHub")


GITHUB = Source(
    "github", "GitHub", _from_event, READING, answers=ANSWERS, places=PLACES, tools=_tools, identifying=IDENTIFYING
)
