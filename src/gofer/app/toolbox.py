"""Every tool, built for the settings of one process."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gofer.app.settings import Settings
from gofer.files.child import Children
from gofer.files.sandbox.python import sandbox
from gofer.sources.github import settings as github
from gofer.sources.github.api import GitHubApi
from gofer.sources.github.tools import github_tools
from gofer.sources.jira import settings as jira
from gofer.sources.jira.api import JiraApi
from gofer.sources.jira.tools import jira_tools
from gofer.sources.notion import settings as notion
from gofer.sources.notion.api import NotionApi
from gofer.sources.notion.tools import notion_tools
from gofer.sources.slack import settings as slack
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.tools import slack_tools
from gofer.tools.definition import Tool
from gofer.tools.files.tools import file_tools
from gofer.tools.plan import plan_tools
from gofer.tools.python import python_tools
from gofer.tools.search import search_tools
from gofer.tools.skills import script_of, skill_tools
from gofer.tools.subagent import subagent_tools


def build_tools(
    settings: Settings, children: Children | None = None, python: Children | None = None
) -> Mapping[str, Tool[Any]]:
    """Every tool by its name.

    `children` do what is dangerous on bytes, `python` runs the code of models; who lets tools be called closes both.
    """
    # One line for each system outside, and for what every run has.
    jira_api = JiraApi(settings.sources[jira.BASE_URL], settings.sources[jira.EMAIL], settings.sources[jira.API_TOKEN])
    systems: Sequence[Sequence[Tool[Any]]] = [
        _of("Slack", slack_tools(SlackApi(settings.sources[slack.API_URL], settings.sources[slack.BOT_TOKEN]))),
        _of("GitHub", github_tools(GitHubApi(settings.sources[github.API_URL], settings.sources[github.TOKEN]))),
        _of("Notion", notion_tools(NotionApi(settings.sources[notion.BASE_URL], settings.sources[notion.TOKEN]))),
        _of("Jira", jira_tools(jira_api)),
        file_tools(children or Children()),
        plan_tools(),
        skill_tools(),
        search_tools(),
        python_tools(python or sandbox(), script_of),
        subagent_tools(),
    ]
    return {tool.name: tool for tools in systems for tool in tools}


def _of(system: str, tools: Sequence[Tool[Any]]) -> Sequence[Tool[Any]]:
    """Return tools that name the system outside that they act on."""
    return [replace(tool, system=system) for tool in tools]
