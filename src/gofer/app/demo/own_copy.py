"""The demo's own copy of the shipped workflows, in which `answer-here` has a few more tools."""

import shutil
from pathlib import Path

from gofer.app.demo.tour import WORKFLOW
from gofer.values.errors import ConfigError

_FOLDERS = ("agents", "subagents", "skills", "coordinators")
_TOOLS = (
    "slack_read_channel",
    "slack_get_permalink",
    "slack_post_message",
    "jira_search",
    "jira_get_issue",
    "jira_create_issue",
)
"""The further tools of `answer-here` in the demo."""
_RULES = 'writes: {jira: [OPS]}\napprove: {tools: [slack_post_message], by: "@leads", expires: 1 hour}\n'
"""Where `answer-here` may write in the demo, and which of its calls a person approves."""


def write_own_copy(shipped: Path, folder: Path) -> None:
    """Copy the shipped workflows into a folder, so that people can ask more there. Raises ConfigError."""
    for name in _FOLDERS:
        if (shipped / name).is_dir():
            shutil.copytree(shipped / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "agents" / f"{WORKFLOW}.yaml"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"The demo plays the workflow {WORKFLOW}; agents/{WORKFLOW}.yaml is missing.") from None
    granted = "".join(f"  - {tool}\n" for tool in _TOOLS)
    path.write_text(text.replace("\ntools:\n", f"\ntools:\n{granted}", 1) + _RULES, encoding="utf-8")
