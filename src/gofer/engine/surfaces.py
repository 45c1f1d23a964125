"""What does a run outside Slack read before its model is asked, and where does its answer go, by its event's source?

A *surface* is the outside object that an event is about: an issue, a page, a pull request. There an answer is one
comment; Slack has more ways (`slack_context.py`, `deliver.py`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gofer.values.canonical_json import as_list, as_text
from gofer.values.events import Event

Asked = tuple[str, Mapping[str, object]]
"""A tool by name, and the arguments it is called with."""


@dataclass(frozen=True, slots=True)
class SourceContext:
    """What the first message to the model is made of."""

    happened: str
    """What happened, in a sentence or two."""
    read: str
    """What the event is about, with everything that people wrote indented."""
    private: bool
    words: str = ""
    """What the person wrote who started the run."""
    author: str = ""
    """The name of that person."""
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    """What conditions ask for and the event did not say."""
    properties: Mapping[str, object] = field(default_factory=dict[str, object])
    """Of a page in Notion, as `{name: {id, value}}`."""
    header: str = ""
    """The line of `read` above the words, which no text of people can be; empty where they are not in it."""
    addressed: str = ""
    """What happened, where the words are a request; empty where `happened` says it."""


@dataclass(frozen=True, slots=True)
class Surface:
    """How runs of one source see what they are about."""

    opening: Callable[[Event], str]
    """The first words to the model: what happened."""
    read: Callable[[Event], Asked | None]
    """What is called to read more; None when the event says all there is."""
    comment: Callable[[Event, str], Asked | None] | None = None
    """What is called to answer there with one comment; None where an answer takes another way, or none."""


def surface(event: Event) -> Surface:
    """The surface of an event outside Slack; one of an unknown source says all there is, and is answered nowhere."""
    return SURFACES.get(event.source, NOWHERE)


_JIRA = {
    "jira.issue_created": "Somebody created this Jira issue.",
    "jira.issue_updated": "Somebody changed this Jira issue.",
    "jira.commented": "Somebody commented on this Jira issue.",
    "jira.attachment_added": "Somebody attached a file to this Jira issue.",
}


def _jira(event: Event) -> str:
    return f"{_JIRA.get(event.kind, 'Something happened to this Jira issue.')} Your answer is a comment there."


_NOTION = {
    "notion.page_created": "Somebody created this Notion page.",
    "notion.properties_updated": "Somebody changed properties of this Notion page.",
    "notion.content_updated": "Somebody changed what this Notion page says.",
    "notion.commented": "Somebody commented on this Notion page.",
}


def _notion(event: Event) -> str:
    said = _NOTION.get(event.kind, "Something happened to this Notion page.")
    return f"{said} Your answer is a comment on the page."


def _notion_comment(event: Event, text: str) -> Asked:
    discussion = event.place.get("discussion")
    where = {"discussion": discussion} if discussion else {"page": event.place.get("page", "")}
    return "notion_add_comment", {"text": text, **where}


def _github(event: Event) -> str:
    actions = ", ".join(as_text(action) for action in as_list(event.facts.get("action")))
    noun = event.kind.partition(".")[2].replace("_", " ")
    return f"On GitHub, {noun}: {actions or 'new'}. Your answer is a comment there."


def _github_reading(event: Event) -> Asked | None:
    number, repository = event.place.get("number"), event.place.get("repository", "")
    if not number:
        return None
    about_pull = event.kind in ("github.pull_request", "github.review") or event.place.get("is_pull") == "true"
    tool = "github_get_pull_request" if about_pull else "github_get_issue"
    return tool, {"repository": repository, "number": int(number)}


def _github_comment(event: Event, text: str) -> Asked | None:
    if not (number := event.place.get("number")):
        # A push is about no issue and no pull request.
        return None
    return "github_add_comment", {"text": text, "repository": event.place.get("repository", ""), "number": int(number)}


def _something(event: Event) -> str:
    return f"Something happened: {event.kind}."


def _nothing(event: Event) -> Asked | None:
    return None


def _webhook(event: Event) -> str:
    return f"A program called the webhook {event.place.get('hook', '')} with the body below."


def _schedule(event: Event) -> str:
    return f"{event.text} No person asked for this run: your prompt says what to do at this time."


def _program(event: Event) -> str:
    by = as_text(event.facts.get("by")) or "Someone"
    return f"{by} asks you through a program. The program shows your answer."


NOWHERE = Surface(_something, _nothing)
SURFACES: Mapping[str, Surface] = {
    "jira": Surface(
        _jira,
        lambda event: ("jira_get_issue", {"issue": event.place.get("issue", "")}),
        lambda event, text: ("jira_add_comment", {"issue": event.place.get("issue", ""), "text": text}),
    ),
    "notion": Surface(
        _notion, lambda event: ("notion_get_page", {"page": event.place.get("page", "")}), _notion_comment
    ),
    "github": Surface(_github, _github_reading, _github_comment),
    "webhook": Surface(_webhook, _nothing),
    "schedule": Surface(_schedule, _nothing),
    "program": Surface(_program, _nothing),
}
"""By source."""
