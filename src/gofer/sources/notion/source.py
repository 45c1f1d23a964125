"""The source Notion: an event is about a page, and the answer is a comment on it or a reply to the event's comment."""

from collections.abc import Sequence

from gofer.journal.entries import ToolResult
from gofer.sources.listed_places import entry, found_within, look_within
from gofer.sources.notion.api import NotionApi
from gofer.sources.notion.identifying_words import IDENTIFYING
from gofer.sources.notion.people import PEOPLE
from gofer.sources.notion.refusals import NOT_THERE
from gofer.sources.notion.settings import BASE_URL, TOKEN
from gofer.sources.notion.status_memory import compare
from gofer.sources.notion.tools import TOOLS
from gofer.sources.part_values import Details, Known, OwnCall, Person, SourceContext, Standpoint
from gofer.sources.settings import SourceSettings
from gofer.sources.source import Answers, Places, Reading, Source
from gofer.sources.subject import context_of_event, needs_subject, one_comment, subject_context, subject_gone
from gofer.tools.declare import bind_all
from gofer.tools.definition import AnyTool
from gofer.tools.places import Place
from gofer.values.events import Event
from gofer.workflows.schema import Reply

_OPENINGS = {
    "notion.page_created": "Someone created this Notion page.",
    "notion.properties_updated": "Someone changed properties of this Notion page.",
    "notion.content_updated": "Someone changed the content of this Notion page.",
    "notion.commented": "Someone commented on this Notion page.",
}


def _opening(event: Event) -> str:
    return _OPENINGS.get(event.kind, "Something happened to this Notion page.")


def _page(event: Event) -> OwnCall:
    return OwnCall("notion_get_page", {"page": event.place.get("page", "")})


def _from_event(event: Event, person: Person) -> SourceContext:
    return context_of_event(event, _opening(event))


def _read(event: Event, person: Person, result: ToolResult) -> SourceContext:
    return subject_context(event, result, _opening(event))


def _comment(event: Event, thread: str, text: str) -> OwnCall:
    if event.place.get("comment"):
        # Without a place, the tool replies in the discussion of the comment that started the run.
        return OwnCall("notion_add_comment", {"text": text})
    return OwnCall("notion_add_comment", {"text": text, "page": event.place.get("page", "")})


def _sentence(event: Event, reply: Reply) -> str:
    if event.place.get("comment"):
        return "Your answer is a reply in the discussion."
    return "Your answer is a comment on the page."


def _look(place: Place, seen_from: Standpoint) -> Known | OwnCall:
    # Addresses and people write the id of a page with and without hyphens.
    if place.name and place.name.replace("-", "") in seen_from.words.replace("-", "").lower():
        return Known(named=True)
    return look_within("notion_find_place", place, seen_from.writes.entries("notion"))


def _found(place: Place, seen_from: Standpoint, details: Details) -> Known:
    return found_within(details, seen_from.writes.entries("notion"))


READING = Reading(
    call=_page,
    read=_read,
    need=needs_subject,
    tools=("notion_get_page",),
    # Notion tells a connection of events only on pages that are shared with it.
    gone=subject_gone(*NOT_THERE),
)
ANSWERS = Answers(one_comment, _comment, ("notion_add_comment",), _sentence)
PLACES = Places(_look, _found, entry, tools=("notion_find_place",))


def _tools(settings: SourceSettings) -> Sequence[AnyTool]:
    return bind_all(TOOLS, NotionApi(settings[BASE_URL], settings[TOKEN]), "Notion")


NOTION = Source(
    "notion",
    "Notion",
    _from_event,
    READING,
    compare=compare,
    people=PEOPLE,
    answers=ANSWERS,
    places=PLACES,
    tools=_tools,
    identifying=IDENTIFYING,
)
