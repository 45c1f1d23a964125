"""Which tools and workflows are there? Every mistake in the files is found before anything runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gofer.bootstrap.settings import Settings, read_settings
from gofer.check.folder import check_folder
from gofer.models.prices import load_prices
from gofer.tools.files.tools import file_tools
from gofer.tools.github.api import GitHubApi
from gofer.tools.github.tools import github_tools
from gofer.tools.jira.api import JiraApi
from gofer.tools.jira.tools import jira_tools
from gofer.tools.mocked import Overrides, read_overrides
from gofer.tools.notion.api import NotionApi
from gofer.tools.notion.tools import notion_tools
from gofer.tools.plan.tools import plan_tools
from gofer.tools.slack.api import SlackApi
from gofer.tools.slack.tools import slack_tools
from gofer.tools.subagent import subagent_tools
from gofer.tools.tool import Tool
from gofer.workflows.load import Catalog, load_catalog
from gofer.workflows.mistake import Mistake, refuse


def build_tools(settings: Settings) -> Mapping[str, Tool[Any]]:
    """Every tool by its name."""
    # One line for each system outside, and for what every run has.
    systems: Sequence[Sequence[Tool[Any]]] = [
        slack_tools(SlackApi(settings.slack_api_url, settings.slack_bot_token)),
        github_tools(GitHubApi(settings.github_api_url, settings.github_token)),
        notion_tools(NotionApi(settings.notion_base_url, settings.notion_token)),
        jira_tools(JiraApi(settings.jira_base_url, settings.jira_email, settings.jira_api_token)),
        file_tools(),
        plan_tools(),
        subagent_tools(),
    ]
    return {tool.name: tool for tools in systems for tool in tools}


def tool_names() -> list[str]:
    """The names of all tools, whatever is set up."""
    return sorted(name for name, tool in build_tools(read_settings({})).items() if not tool.internal)


def mocks(text: str, where: str) -> Overrides:
    """What a file says that tools give instead of what their mocks do. Raises ConfigError."""
    tools = build_tools(read_settings({}))
    return read_overrides(text, where, {name: tool for name, tool in tools.items() if not tool.internal})


def mistakes(folder: Path) -> list[Mistake]:
    """Every mistake in a folder of workflows."""
    return check_folder(folder, tool_names(), load_prices())


def checked_catalog(folder: Path) -> Catalog:
    """The workflows of a folder. Raises ConfigError with every mistake in it."""
    if folder.is_dir():
        refuse(mistakes(folder))
    return load_catalog(folder)
