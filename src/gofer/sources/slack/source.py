"""The source Slack: an event is about a message or a channel, and the answer is a reply in the message's thread."""

import re
from collections.abc import Sequence

from gofer.sources.settings import SourceSettings
from gofer.sources.slack.answers import ANSWERS, CHANNELS
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.approvals import APPROVALS
from gofer.sources.slack.directory import GROUPS, PEOPLE
from gofer.sources.slack.identifying_words import IDENTIFYING
from gofer.sources.slack.identities import message_of
from gofer.sources.slack.places import PLACES
from gofer.sources.slack.settings import API_URL, BOT_TOKEN, WORKSPACE_URL
from gofer.sources.slack.source_context import READING, context_of_event
from gofer.sources.slack.tools import TOOLS
from gofer.sources.source import Source, Workplace
from gofer.tools.declare import bind_all
from gofer.tools.definition import AnyTool
from gofer.values.events import Event

STARTS = frozenset({"slack.mention", "slack.direct", "slack.reaction"})
_ADDRESSED = frozenset({"slack.mention", "slack.direct"})
_WRITTEN = _ADDRESSED | {"slack.message"}
"""Kinds of events with a text that their author wrote."""
_QUOTED = re.compile(
    r"^[ \t]*(?:>|&gt;){3}.*|^[ \t]*(?:>|&gt;)[^\n]*|```.*?(?:```|\Z)|`[^`\n]*\s[^`\n]*`"
    '|["\u201c\u201d\u201e\u00ab][^\\s"\u201c\u201d\u00bb]*\\s[^\\n"\u201c\u201d\u00bb]*["\u201c\u201d\u00bb]',
    re.DOTALL | re.MULTILINE,
)
"""Quotes, code and words in quotation marks, which hold what a person passes on; but one name is the person's own."""


def _is_request(event: Event, followed: bool) -> bool:
    if event.kind == "slack.message":
        # A reply in a thread in which the workflow answered before needs no mention.
        return followed
    return event.kind in _ADDRESSED


def _own_words(event: Event) -> str:
    return _QUOTED.sub("", event.text) if event.kind in _WRITTEN else ""


def _is_shared(event: Event) -> bool:
    """Return whether an event happened in a channel that is shared with another company."""
    return bool(event.place.get("shared") or event.place.get("outer_team"))


def _is_recent(event: Event) -> bool:
    return "ts" not in event.place


def _tools(settings: SourceSettings) -> Sequence[AnyTool]:
    return bind_all(TOOLS, SlackApi(settings[API_URL], settings[BOT_TOKEN]), "Slack")


SLACK = Source(
    "slack",
    "Slack",
    context_of_event,
    READING,
    starts=STARTS,
    is_request=_is_request,
    own_words=_own_words,
    message=message_of,
    is_recent=_is_recent,
    people=PEOPLE,
    answers=ANSWERS,
    approvals=APPROVALS,
    places=PLACES,
    open_to_outsiders=_is_shared,
    tools=_tools,
    sites=(WORKSPACE_URL,),
    identifying=IDENTIFYING,
)
SLACK_WORKPLACE = Workplace("Slack", GROUPS, APPROVALS, CHANNELS)
"""Slack as the system in which Gofer reaches the people of the company."""
