"""The requests that each tool of a vendor sends for a call, and its result, over the simulated vendors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from frozen.lines import lines
from frozen.recording import RecordingHttp
from gofer.sources.github.api import GitHubApi
from gofer.sources.github.tools import TOOLS as GITHUB_TOOLS
from gofer.sources.jira.tools import TOOLS as JIRA_TOOLS
from gofer.sources.notion.tools import TOOLS as NOTION_TOOLS
from gofer.sources.slack.tools import TOOLS as SLACK_TOOLS
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call, Tool, ToolResult
from gofer.values.errors import ToolError
from gofer.values.secret import Secret
from gofer_simulators.slack.workspace import Group
from support.tools.calls import started
from support.vendors import github, jira, notion, slack

Arguments = Mapping[str, object]
Calls = Sequence[tuple[str, Arguments]]
ROOT, CACHE, RISK = slack.ROOT, notion.CACHE, notion.RISK
QUESTION = {
    "tool": "jira_create_issue",
    "arguments": {"project": "PAY"},
    "arguments_sha256": "0" * 64,
    "about": "call",
    "by": ["U0000001"],
    "until": 1_800_000_000_000,
    "approve": "a",
    "deny": "d",
    "page": ["U0000001"],
    "to": "U0000001",
}
SLACK: Calls = (
    ("slack_read_thread", {}),
    ("slack_read_thread", {"link": "https://acme.slack.com/archives/C0000001/p1763700000000100"}),
    ("slack_read_channel", {"channel": "#deploys"}),
    ("slack_get_permalink", {}),
    ("slack_get_user", {"name": "@Ada"}),
    ("slack_get_user", {"name": "U0000001"}),
    ("slack_get_group", {"handle": "@leads"}),
    ("slack_get_file", {"file": "F0000001"}),
    ("slack_post_message", {"text": "**hello** @Ada", "channel": "#deploys"}),
    ("slack_post_message", {"text": "# One\n\n- two\n- three\n\n| a | b |\n|---|---|\n| 1 | 2 |"}),
    ("slack_update_message", {"text": "bye", "ts": "1763709120.000100"}),
    ("slack_delete_message", {"ts": "1763709120.000100"}),
    ("slack_post_file", {"name": "a.md", "text": "hello"}),
    ("slack_post_direct", {"text": "hello"}),
    ("slack_post_ephemeral", {"text": "hello"}),
    ("slack_add_reaction", {"emoji": ":eyes:", "ts": ROOT}),
    ("slack_join_channel", {"channel": "#random"}),
    ("slack_ask_approval", QUESTION),
    ("slack_ask_requester", QUESTION),
    ("slack_close_question", {"channel": "C0000001", "ts": ROOT, "ending": "Denied.", "asked": QUESTION}),
    ("slack_tell_one", {"user": "U0000001", "text": "no"}),
    ("slack_find_groups", {"names": ["@leads"]}),
    ("slack_may_decide", {"user": "U0000001", "by": ["U0000001"]}),
    ("slack_find_place", {"channel": "deploys", "asker": "U0000001", "listed": ["#deploys"]}),
)
JIRA: Calls = (
    ("jira_find_place", {"issue": "OPS-7"}),
    ("jira_search", {"text": "export"}),
    ("jira_get_issue", {}),
    ("jira_get_issue", {"issue": "https://acme.atlassian.net/browse/OPS-7"}),
    ("jira_get_form", {"project": "ops", "type": "Bug"}),
    ("jira_create_issue", {"project": "ops", "type": "Bug", "summary": "x", "description": "y"}),
    ("jira_add_comment", {"text": "**hello** Ada Byron\n\n- one\n- two\n\n```python\nx = 1\n```"}),
    ("jira_transition_issue", {"status": "in progress"}),
    ("jira_link_url", {"url": "https://example.com/", "title": "x"}),
    ("jira_get_attachment", {"attachment": "10001"}),
)
NOTION: Calls = (
    ("notion_find_place", {"page": CACHE}),
    ("notion_find_member", {"person": notion.ADA}),
    ("notion_get_page", {}),
    ("notion_get_file", {"page": CACHE, "block": RISK}),
    ("notion_search", {"query": "Cache"}),
    ("notion_search", {"query": "RFCs", "kind": "database"}),
    ("notion_query_database", {"database": "RFCs", "where": {"Status": "Draft"}}),
    ("notion_add_comment", {"text": "**hello** [x](https://example.com/)"}),
    ("notion_update_properties", {"properties": {"Effort": 5, "Status": "Done", "Tags": ["ui"]}}),
    ("notion_append_content", {"text": "# One\n\n- two\n- three\n\n> four\n\n```python\nx = 1\n```"}),
)
GITHUB: Calls = (
    ("github_get_pull_request", {}),
    ("github_get_issue", {"number": 8}),
    ("github_read_file", {"path": "README.md"}),
    ("github_read_file", {}),
    ("github_list_commits", {"path": "README.md"}),
    ("github_add_comment", {"text": "hello"}),
    ("github_create_issue", {"title": "x"}),
    ("github_request_reviewers", {"reviewers": ["@sam"]}),
)
"""Calls in their order; each sees the changes of the earlier ones."""

Tools = Sequence[Tool[Any]]


def requests() -> Iterator[tuple[str, str]]:
    """Yield the requests of each vendor's tools, and the result of each call."""
    yield "requests/slack.jsonl", lines(_slack())
    yield "requests/jira.jsonl", lines(_jira())
    yield "requests/notion.jsonl", lines(_notion())
    yield "requests/github.jsonl", lines(_github())


def missing(names: Sequence[str]) -> Sequence[str]:
    """Return the vendor tools among some names that no call here uses."""
    called = {name for calls in (SLACK, JIRA, NOTION, GITHUB) for name, _ in calls}
    vendors = ("slack_", "jira_", "notion_", "github_")
    return sorted(name for name in names if name.startswith(vendors) and name not in called)


def _slack() -> list[object]:
    made: list[object] = []

    async def story(simulator: Any, call: Call) -> None:
        simulator.workspace.groups["S0000001"] = Group("S0000001", "leads", "Leads", ("U0000001",))
        await _each(SLACK, bind_all(SLACK_TOOLS, slack.API), started(call, actor="U0000001"), made)

    slack.play(story)
    return made


def _jira() -> list[object]:
    made: list[object] = []

    async def story(room: jira.Room) -> None:
        await _each(JIRA, bind_all(JIRA_TOOLS, jira.API), jira.call_of(room, issue="OPS-7"), made)

    jira.play(story)
    return made


def _notion() -> list[object]:
    made: list[object] = []

    async def story(_: object, call: Call) -> None:
        await _each(NOTION, bind_all(NOTION_TOOLS, replace(notion.API)), call, made)

    notion.play(story)
    return made


def _github() -> list[object]:
    made: list[object] = []
    api = GitHubApi(github.API, Secret(github.TOKEN))

    async def story(_: object, call: Call) -> None:
        await _each(GITHUB, bind_all(GITHUB_TOOLS, api), call, made)

    github.play(story)
    return made


async def _each(calls: Calls, tools: Tools, call: Call, made: list[object]) -> None:
    known = {tool.name: tool for tool in tools}
    for number, (name, arguments) in enumerate(calls, start=1):
        http = RecordingHttp(call.http)
        one = replace(call, key=f"run1/call/{number}", http=http)
        result = await _outcome(known[name], one, arguments)
        made.append({"tool": name, "arguments": arguments, "sent": http.sent, **result})


async def _outcome(tool: Tool[Any], call: Call, arguments: Arguments) -> Mapping[str, object]:
    """Return what a model, people and code get of a call."""
    try:
        result: ToolResult = await tool.act(call, tool.parse(arguments))
    except ToolError as refused:
        return {"refused": refused.message_to_model, "code": refused.code}
    return {"text": result.text, "summary": result.summary, "details": result.details, "value": result.value}
