"""The source Jira: an event is about an issue, and the answer is a comment on it."""

import re
from collections.abc import Sequence

from gofer.journal.entries import ToolResult
from gofer.sources.jira.api import JiraApi
from gofer.sources.jira.identifying_words import IDENTIFYING
from gofer.sources.jira.settings import API_TOKEN, BASE_URL, EMAIL
from gofer.sources.jira.tools import TOOLS
from gofer.sources.listed_places import entry, found_within, is_named, look_within
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
from gofer.values.canonical_json import as_text
from gofer.values.events import Event

_OPENINGS = {
    "jira.issue_created": "{} created this Jira issue.",
    "jira.issue_updated": "{} changed this Jira issue.",
    "jira.commented": "{} commented on this Jira issue.",
    "jira.attachment_added": "{} attached a file to this Jira issue.",
}
_ACTORS = {
    "anonymous": "Someone whom Jira does not name",
    "bot": "An app or automation rule",
    "customer": "A customer of the service project",
}
_GOFER = re.compile(r"(?<![\w@.+/-])@gofer(?![@/]|[.-]?\w)", re.IGNORECASE | re.ASCII)
"""The name `@gofer` on its own, not as a part of an address or a longer name."""
_QUOTED = re.compile(
    r"\{(quote|noformat|code)(?::[^{}\n]{0,200})?\}.*?(?:\{\1\}|\Z)|^[ \t]*(?:bq\.|>)[^\n]*|~~\S.*?~~|```.*?(?:```|\Z)"
    r"|\{\{[^{}\n]*\s[^{}\n]*\}\}|`[^`\n]*\s[^`\n]*`",
    re.DOTALL | re.MULTILINE,
)
"""Quotes, code and struck words in a comment, which are not the author's own request."""


def _opening(event: Event) -> str:
    sentence = _OPENINGS.get(event.kind, "Something happened to this Jira issue.")
    return sentence.format(_ACTORS.get(event.actor.kind, "Someone"))


def _own_words(event: Event) -> str:
    return _QUOTED.sub("", as_text(event.facts.get("says"))) if event.kind == "jira.commented" else ""


def _is_request(event: Event, followed: bool = False) -> bool:
    return _GOFER.search(_own_words(event)) is not None


def _issue(event: Event) -> OwnCall:
    return OwnCall("jira_get_issue", {"issue": event.place.get("issue", "")})


def _from_event(event: Event, person: Person) -> SourceContext:
    return context_of_event(event, _opening(event))


def _read(event: Event, person: Person, result: ToolResult) -> SourceContext:
    request = event.actor.is_person and _is_request(event)
    return subject_context(event, result, _opening(event), request=request)


def _comment(event: Event, thread: str, text: str) -> OwnCall:
    return OwnCall("jira_add_comment", {"issue": event.place.get("issue", ""), "text": text})


def _look(place: Place, seen_from: Standpoint) -> Known | OwnCall:
    if place.kind == "project":
        listed = place.name in seen_from.writes.entries("jira")
        return Known(listed=listed, named=is_named(place.name, seen_from.words))
    # A number alone would name an issue by its id. Keys are written in both cases, and are no words.
    if "-" in place.name and is_named(place.name.upper(), seen_from.words.upper()):
        return Known(named=True)
    return look_within("jira_find_place", place, seen_from.writes.entries("jira"))


def _found(place: Place, seen_from: Standpoint, details: Details) -> Known:
    return found_within(details, seen_from.writes.entries("jira"))


def _entry(place: Place) -> str:
    if place.kind == "issue":
        return f"jira: [{place.name.rpartition('-')[0] or 'KEY'}]"
    return entry(place)


READING = Reading(
    call=_issue,
    read=_read,
    need=needs_subject,
    tools=("jira_get_issue",),
    gone=subject_gone(),
    # Jira answers the same for an issue that was deleted and for one that Gofer's account may not see.
    hidden=frozenset({"404"}),
)
ANSWERS = Answers(one_comment, _comment, ("jira_add_comment",), comment_there)
PLACES = Places(_look, _found, _entry, tools=("jira_find_place",))


def _tools(settings: SourceSettings) -> Sequence[AnyTool]:
    return bind_all(TOOLS, JiraApi(settings[BASE_URL], settings[EMAIL], settings[API_TOKEN]), "Jira")


JIRA = Source(
    "jira",
    "Jira",
    _from_event,
    READING,
    is_request=_is_request,
    own_words=_own_words,
    answers=ANSWERS,
    places=PLACES,
    tools=_tools,
    sites=(BASE_URL,),
    identifying=IDENTIFYING,
)
