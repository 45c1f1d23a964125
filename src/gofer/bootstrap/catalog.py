"""Which tools and workflows are there? Every mistake in the files is found before anything runs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gofer.bootstrap.settings import Settings, read_settings
from gofer.check.folder import check_folder
from gofer.files.child import Children
from gofer.models.prices import load_prices
from gofer.sandbox.python import sandbox
from gofer.tools.files.tools import file_tools
from gofer.tools.github.api import GitHubApi
from gofer.tools.github.tools import github_tools
from gofer.tools.jira.api import JiraApi
from gofer.tools.jira.tools import jira_tools
from gofer.tools.mocked import Overrides, read_overrides
from gofer.tools.notion.api import NotionApi
from gofer.tools.notion.tools import notion_tools
from gofer.tools.plan.tools import plan_tools
from gofer.tools.python.tools import python_tools
from gofer.tools.search.tools import search_tools
from gofer.tools.skills.tools import script_of, skill_tools
from gofer.tools.slack.api import SlackApi
from gofer.tools.slack.tools import slack_tools
from gofer.tools.subagent import subagent_tools
from gofer.tools.tool import Tool
from gofer.workflows.load import Catalog, load_catalog
from gofer.workflows.mistake import Mistake, refuse


def build_tools(
    settings: Settings, children: Children | None = None, python: Children | None = None
) -> Mapping[str, Tool[Any]]:
    """Every tool by its name.

    `children` do what is dangerous on bytes, `python` runs the code of models; who lets tools be called closes both.
    """
    # One line for each system outside, and for what every run has.
    jira = JiraApi(settings.jira_base_url, settings.jira_email, settings.jira_api_token)
    systems: Sequence[Sequence[Tool[Any]]] = [
        _of("Slack", slack_tools(SlackApi(settings.slack_api_url, settings.slack_bot_token))),
        _of("GitHub", github_tools(GitHubApi(settings.github_api_url, settings.github_token))),
        _of("Notion", notion_tools(NotionApi(settings.notion_base_url, settings.notion_token))),
        _of("Jira", jira_tools(jira)),
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


def known_tools() -> Mapping[str, Tool[Any]]:
    """All tools that runs may have, whatever is set up."""
    return {name: tool for name, tool in build_tools(read_settings({})).items() if not tool.internal}


def tool_names() -> list[str]:
    """The names of all tools, whatever is set up."""
    return sorted(known_tools())


def mocks(text: str, where: str) -> Overrides:
    """What a file says that tools give instead of what their mocks do. Raises ConfigError."""
    tools = build_tools(read_settings({}))
    # What every run has looks at the run alone: there is nothing outside to stand in for.
    replaceable = {name: tool for name, tool in tools.items() if not tool.internal and not tool.base}
    return read_overrides(text, where, replaceable)


def mistakes(folder: Path) -> list[Mistake]:
    """Every mistake in a folder of workflows, and hints."""
    return check_folder(folder, known_tools(), load_prices())


def checked_catalog(folder: Path) -> Catalog:
    """The workflows of a folder. Raises ConfigError with every mistake in it."""
    if folder.is_dir():
        refuse(mistakes(folder))
    return load_catalog(folder)
