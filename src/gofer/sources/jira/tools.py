"""The tools of Jira, and what the model reads about them."""

from functools import partial
from typing import Any

from gofer.sources.jira import mocks
from gofer.sources.jira.add_comment import AddComment, add_comment, find_comment
from gofer.sources.jira.api import JiraApi
from gofer.sources.jira.change_issue import LinkUrl, TransitionIssue, link_url, transition_issue
from gofer.sources.jira.create_issue import CreateIssue, create_issue, find_issue
from gofer.sources.jira.get_attachment import FETCH, GetAttachment, get_attachment
from gofer.sources.jira.get_issue import GetIssue, get_issue
from gofer.sources.jira.issues import is_at
from gofer.sources.jira.places import FindPlace, find_place, issue_place, project_place
from gofer.sources.jira.search import Search, search
from gofer.tools.definition import Tool
from gofer.tools.places import Writes

SEES, WRITES = frozenset({"Browse Projects"}), frozenset({"Browse Projects", "Add Comments"})


def jira_tools(api: JiraApi) -> tuple[Tool[Any], ...]:
    """Return the tools of one Jira site."""
    return (*_reading(api), *_writing(api), *_changing(api))


def _reading(api: JiraApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="jira_search",
            description="Find Jira issues by words, project, label, status or type. Use it before creating one, to see"
            " whether there is one already.",
            effect="read",
            arguments=Search,
            act=partial(search, api),
            everyday="tickets, bugs, tasks, backlog, sprint, board; what is open, already reported, duplicate, look up",
            mock=mocks.search,
            scopes=SEES,
        ),
        Tool(
            name="jira_get_issue",
            description="Read a Jira issue: summary, status, people, description and comments, oldest first.",
            effect="read",
            arguments=GetIssue,
            act=partial(get_issue, api),
            everyday="read, show, open or look at a ticket, bug, task or story; what does it say, details",
            mock=partial(mocks.get_issue, api),
            scopes=SEES,
        ),
        Tool(
            name="jira_find_place",
            description="Look up to which project an issue belongs.",
            effect="read",
            arguments=FindPlace,
            act=partial(find_place, api),
            mock=mocks.find_place,
            internal=True,
            scopes=SEES,
        ),
        Tool(
            name=FETCH,
            description="Fetch an attachment of an issue that the run was told of.",
            effect="read",
            arguments=GetAttachment,
            act=partial(get_attachment, api),
            mock=mocks.get_attachment,
            internal=True,
            scopes=SEES,
        ),
    )


def _writing(api: JiraApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="jira_create_issue",
            description="Create a Jira issue. Say what whoever works on it has to know, and where it comes from.",
            effect="lookup",
            arguments=CreateIssue,
            act=partial(create_issue, api),
            everyday="file, open, raise, report, make, log or add a bug, ticket, task, story, incident, problem",
            mock=partial(mocks.create_issue, api),
            look=partial(find_issue, api),
            # Looking goes past the search index, so that nothing but the write itself can be late.
            settle=10.0,
            destination=lambda arguments: arguments.project.upper(),
            where=project_place,
            scopes=frozenset({"Browse Projects", "Create Issues", "Assign Issues", "Browse users and groups"}),
        ),
        Tool(
            name="jira_add_comment",
            description="Comment on a Jira issue. Not for the answer to the request: that is delivered by itself.",
            effect="lookup",
            arguments=AddComment,
            act=partial(add_comment, api),
            everyday="reply, respond, note or update on a ticket, bug or task",
            mock=mocks.add_comment,
            look=partial(find_comment, api),
            settle=10.0,
            # An issue may be named by its key, by a link, or left out.
            writes=_on_an_issue("text", narrow=True),
            where=issue_place,
            scopes=WRITES,
        ),
    )


def _changing(api: JiraApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="jira_transition_issue",
            description="Move a Jira issue to another status, such as In Progress or Done.",
            effect="keyed",
            arguments=TransitionIssue,
            act=partial(transition_issue, api),
            everyday="close, resolve, reopen, finish, start, mark as done, move a ticket, card, bug or task on the "
            "board; change its state",
            mock=mocks.transition_issue,
            writes=_on_an_issue("status"),
            where=issue_place,
            scopes=frozenset({"Browse Projects", "Transition Issues"}),
        ),
        Tool(
            name="jira_link_url",
            description="Link a Jira issue to a page, a pull request or a Slack thread.",
            effect="keyed",
            arguments=LinkUrl,
            act=partial(link_url, api),
            everyday="attach, connect or relate a url or link to a ticket, bug or task",
            mock=mocks.link_url,
            writes=_on_an_issue("url", "title"),
            where=issue_place,
            scopes=frozenset({"Browse Projects", "Link Issues"}),
        ),
    )


def _on_an_issue(*content: str, narrow: bool = False) -> Writes:
    return Writes({"issue": is_at}, frozenset(content), narrow)
