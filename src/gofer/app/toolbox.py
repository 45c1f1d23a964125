"""Every tool, built for the settings of one process."""

from collections.abc import Mapping, Sequence
from typing import Any

from gofer.app.settings import Settings, checked_credential
from gofer.files.child import Children
from gofer.files.sandbox.python import sandbox
from gofer.sources.github.api import GitHubApi
from gofer.sources.github.tools import TOOLS as GITHUB
from gofer.sources.jira.api import JiraApi
from gofer.sources.jira.tools import TOOLS as JIRA
from gofer.sources.notion.api import NotionApi
from gofer.sources.notion.tools import TOOLS as NOTION
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.tools import TOOLS as SLACK
from gofer.tools.company import CompanyTool
from gofer.tools.declare import Variables, bind_all
from gofer.tools.definition import Tool
from gofer.tools.files.tools import TOOLS as FILES
from gofer.tools.plan import TOOLS as PLAN
from gofer.tools.python import TOOLS as PYTHON
from gofer.tools.python import PythonClient
from gofer.tools.search import TOOLS as SEARCH
from gofer.tools.skills import TOOLS as SKILLS
from gofer.tools.skills import script_of
from gofer.tools.subagent import TOOLS as SUBAGENT


def build_tools(
    settings: Settings,
    children: Children | None = None,
    python: Children | None = None,
    company: Sequence[CompanyTool] = (),
) -> Mapping[str, Tool[Any]]:
    """Return every tool by its name; `company` are those of `tools/`.

    `children` do what is dangerous on bytes, `python` runs the code of models; who lets tools be called closes both.
    """
    # One line for each system outside, and for what every run has.
    jira = JiraApi(settings.jira_base_url, settings.jira_email, settings.jira_api_token)
    systems: Sequence[Sequence[Tool[Any]]] = [
        bind_all(SLACK, SlackApi(settings.slack_api_url, settings.slack_bot_token), "Slack"),
        bind_all(GITHUB, GitHubApi(settings.github_api_url, settings.github_token), "GitHub"),
        bind_all(NOTION, NotionApi(settings.notion_base_url, settings.notion_token), "Notion"),
        bind_all(JIRA, jira, "Jira"),
        bind_all(FILES, children or Children()),
        bind_all((*PLAN, *SKILLS, *SEARCH), None),
        bind_all(PYTHON, PythonClient(python or sandbox(), script_of)),
        bind_all(SUBAGENT, None),
        [one.bind(variables_of(one, settings)) for one in company],
    ]
    return {tool.name: tool for tools in systems for tool in tools}


def variables_of(tool: CompanyTool, settings: Settings) -> Variables:
    """Return the values of the environment variables that a company's tool names. Raises ConfigError."""
    return {name: checked_credential(name, settings.environment.get(name, "").strip()) for name in tool.variables}


def unset(company: Sequence[CompanyTool], settings: Settings) -> Mapping[str, Sequence[str]]:
    """Return the variables that are not set, with the names of the tools that reach nothing without them."""
    found: dict[str, list[str]] = {}
    for tool in company:
        for name in tool.variables:
            if not settings.environment.get(name, "").strip():
                found.setdefault(name, []).append(tool.name)
    return found
