"""The tools of Jira."""

from collections.abc import Sequence
from typing import Any

from gofer.sources.jira.api import JiraApi
from gofer.sources.jira.create_issue import jira_create_issue
from gofer.sources.jira.get_attachment import jira_get_attachment
from gofer.sources.jira.get_form import jira_get_form
from gofer.sources.jira.get_issue import jira_get_issue
from gofer.sources.jira.issues import jira_find_place
from gofer.sources.jira.search import jira_search
from gofer.sources.jira.write import jira_add_comment, jira_link_url, jira_transition_issue
from gofer.tools.declare import ToolDeclaration

TOOLS: Sequence[ToolDeclaration[JiraApi, Any]] = (
    jira_search,
    jira_get_issue,
    jira_find_place,
    jira_get_attachment,
    jira_get_form,
    jira_create_issue,
    jira_add_comment,
    jira_transition_issue,
    jira_link_url,
)
