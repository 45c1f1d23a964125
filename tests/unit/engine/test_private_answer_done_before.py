"""The notice for a person whose request an earlier run has done already."""

import pytest

from gofer.engine.private_answer import EARLIER_TOOL, notice
from gofer.journal.entries import ToolResult
from gofer.projections.progress import Progress


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        (["jira_create_issue"], "Already filed: https://example.com/0"),
        (["notion_create_page"], "Already done: https://example.com/0"),
        (["jira_create_issue", "jira_add_comment"], "Already done: https://example.com/0, https://example.com/1"),
    ],
)
def test_notice_says_filed_only_for_tickets(tools: list[str], said: str) -> None:
    results = [
        ToolResult(
            f"1.{number}", "ok", "Not done again.", details={"url": f"https://example.com/{number}", EARLIER_TOOL: tool}
        )
        for number, tool in enumerate(tools)
    ]
    assert notice(Progress(outcomes={one.call: one for one in results})) == said
