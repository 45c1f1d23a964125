"""Each mock against its tool over the simulated vendor: results have the same form, and the same calls are refused."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gofer.app.catalog import build_tools
from gofer.app.settings import read_settings
from gofer.journal.entries import Effect
from gofer.sources.github.api import GitHubApi
from gofer.sources.github.tools import TOOLS as GITHUB_TOOLS
from gofer.sources.jira.tools import TOOLS as JIRA_TOOLS
from gofer.sources.notion.tools import TOOLS as NOTION_TOOLS
from gofer.sources.slack.tools import TOOLS as SLACK_TOOLS
from gofer.tools.declare import bind_all
from gofer.tools.definition import Arguments, Call, Tool, ToolResult
from gofer.tools.mocks import mocked, read_overrides
from gofer.values.errors import ConfigError, ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret
from gofer_simulators.slack.workspace import Group
from support.stand_ins import SetClock
from support.tools.calls import any_call, started
from support.vendors import github, jira, notion
from support.vendors import slack as simulated_slack

pytestmark = pytest.mark.anyio
ALL = build_tools(read_settings({}))
BY_NAME = {"properties", "authors", "ids"}
"""Details keyed by names, with any keys."""
OF_ANY_KIND = {"value"}
NOWHERE = {"team": "T1"}
"""The place of a run that began outside the tool's system."""
ROOT, CACHE = simulated_slack.ROOT, notion.CACHE
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
CASES: list[tuple[str, Mapping[str, object]]] = [
    ("slack_read_thread", {}),
    ("slack_read_thread", {"link": "https://acme.slack.com/archives/C0000001/p1763700000000100"}),
    ("slack_read_channel", {"channel": "#deploys"}),
    ("slack_get_permalink", {}),
    ("slack_get_user", {"name": "@Ada"}),
    ("slack_get_user", {"name": "U0000001"}),
    ("slack_get_group", {"handle": "@leads"}),
    ("slack_post_message", {"text": "hello", "channel": "#deploys"}),
    ("slack_post_file", {"name": "a.md", "text": "hello"}),
    ("slack_post_direct", {"text": "hello"}),
    ("slack_post_ephemeral", {"text": "hello"}),
    ("slack_add_reaction", {"emoji": ":eyes:", "ts": ROOT}),
    ("slack_join_channel", {"channel": "#random"}),
    ("slack_ask_approval", QUESTION),
    ("slack_ask_requester", QUESTION),
    ("slack_tell_one", {"user": "U0000001", "text": "no"}),
    ("slack_find_groups", {"names": ["@leads"]}),
    ("slack_may_decide", {"user": "U0000001", "by": ["U0000001"]}),
    ("slack_find_place", {"channel": "deploys", "asker": "U0000001", "listed": ["#deploys"]}),
    ("jira_find_place", {"issue": "OPS-7"}),
    ("notion_find_place", {"page": CACHE}),
    ("notion_find_member", {"person": "ada"}),
    ("jira_search", {"text": "export"}),
    ("jira_get_issue", {}),
    ("jira_get_issue", {"issue": "https://acme.atlassian.net/browse/OPS-7"}),
    ("jira_get_form", {"project": "ops", "type": "Bug"}),
    ("jira_create_issue", {"project": "ops", "type": "Bug", "summary": "x", "description": "y"}),
    ("jira_add_comment", {"text": "hello"}),
    ("jira_transition_issue", {"status": "in progress"}),
    ("jira_link_url", {"url": "https://example.com/", "title": "x"}),
    ("notion_get_page", {}),
    ("notion_search", {"query": "Cache"}),
    ("notion_search", {"query": "RFCs", "kind": "database"}),
    ("notion_query_database", {"database": "RFCs", "where": {"Status": "Draft"}}),
    ("notion_add_comment", {"text": "hello"}),
    ("notion_update_properties", {"properties": {"Effort": 5}}),
    ("notion_append_content", {"text": "# One\n\ntwo"}),
    ("github_get_pull_request", {}),
    ("github_get_issue", {"number": 8}),
    ("github_read_file", {"path": "README.md"}),
    ("github_read_file", {}),
    ("github_list_commits", {"path": "README.md"}),
    ("github_add_comment", {"text": "hello"}),
    ("github_create_issue", {"title": "x"}),
    ("github_request_reviewers", {"reviewers": ["@sam"]}),
]
FETCHING: Mapping[str, Mapping[str, object]] = {
    "slack_get_file": {"file": "F0000001"},
    "jira_get_attachment": {"attachment": "10001"},
    "notion_get_file": {"page": "p", "block": "b"},
}
REFUSED: list[tuple[str, Mapping[str, object], Mapping[str, str]]] = [
    ("slack_read_thread", {"link": "https://example.com/"}, {}),
    ("slack_read_thread", {"ts": "yesterday"}, {}),
    ("slack_read_channel", {}, NOWHERE),
    ("slack_get_permalink", {}, NOWHERE),
    ("slack_post_message", {"text": "x"}, NOWHERE),
    ("slack_post_message", {"text": "x" * 13_000}, {}),
    ("slack_update_message", {"text": "x" * 13_000, "ts": ROOT}, {}),
    ("slack_delete_message", {"ts": ROOT}, NOWHERE),
    ("slack_post_file", {"name": "a.md", "text": "x"}, NOWHERE),
    ("slack_post_direct", {"text": " "}, {}),
    ("slack_post_ephemeral", {"text": "x"}, NOWHERE),
    ("slack_add_reaction", {"emoji": "not an emoji", "ts": ROOT}, {}),
    ("slack_join_channel", {}, NOWHERE),
    ("jira_search", {}, {}),
    ("jira_get_issue", {}, NOWHERE),
    ("jira_get_issue", {"issue": "the export"}, {}),
    ("jira_get_form", {}, {}),
    ("jira_get_form", {"status": "Done"}, NOWHERE),
    ("jira_add_comment", {"text": "x"}, NOWHERE),
    ("jira_transition_issue", {"status": "Done", "issue": "?"}, {}),
    ("jira_link_url", {"url": "ftp://x", "title": "x"}, {}),
    ("notion_get_page", {}, NOWHERE),
    ("notion_get_page", {"page": "the RFC"}, {}),
    ("notion_add_comment", {"text": "x", "block": "first"}, {}),
    ("notion_add_comment", {"text": "x", "discussion": "first"}, {}),
    ("notion_update_properties", {"properties": {"Effort": 5}}, NOWHERE),
    ("notion_append_content", {"text": "a\n\n" * 120}, {}),
    ("notion_append_content", {"text": "a", "after": "first"}, {}),
    ("github_get_pull_request", {}, NOWHERE),
    ("github_get_issue", {"url": "https://example.com/a/b/issues/1"}, {}),
    ("github_read_file", {"path": "../secret"}, {}),
    ("github_list_commits", {"repository": "x"}, {}),
    ("github_add_comment", {"text": " "}, {}),
    ("github_create_issue", {"title": "x"}, NOWHERE),
    ("github_request_reviewers", {"reviewers": ["two words"]}, {}),
]


def test_every_tool_of_workflows_has_a_mock() -> None:
    assert [name for name, tool in ALL.items() if tool.mock is None and not tool.base] == []


def test_mock_cases_cover_every_tool_of_slack_jira_notion_and_github() -> None:
    ours = {name for name in ALL if name.partition("_")[0] in ("slack", "jira", "notion", "github")}
    changing = {"slack_update_message", "slack_delete_message", "slack_close_question"}
    assert {name for name, _ in CASES} | changing | FETCHING.keys() == ours


@pytest.mark.parametrize(("name", "arguments"), FETCHING.items())
def test_mock_of_a_fetching_tool_returns_a_text_file_with_content(name: str, arguments: Mapping[str, object]) -> None:
    tool = ALL[name]
    assert tool.mock is not None
    call = played("slack_get_permalink", {}, {})[1]
    (file,) = tool.mock(call, tool.parse(arguments)).files
    assert file.content
    assert file.media_type == "text/plain"


async def over_http(tool: str, arguments: Mapping[str, object], call: Call, tools: tuple[Tool[Any], ...]) -> ToolResult:
    (chosen,) = (one for one in tools if one.name == tool)
    return await chosen.act(call, chosen.parse(arguments))


def played(name: str, arguments: Mapping[str, object], place: Mapping[str, str]) -> tuple[list[object], Call]:
    """Return the result of a tool over its simulated vendor, or its refusal, and the call."""
    came: list[Any] = []

    async def act(call: Call, tools: tuple[Tool[Any], ...]) -> None:
        if place:
            call = started(call, place=place)
        came.append(call)
        try:
            came.insert(0, await over_http(name, arguments, call, tools))
        except ToolError as refused:
            came.insert(0, refused.message_to_model)

    async def slack(simulator: Any, call: Call) -> None:
        simulator.workspace.groups["S0000001"] = Group("S0000001", "leads", "Leads", ("U0000001",))
        await act(started(call, actor="U0000001"), bind_all(SLACK_TOOLS, simulated_slack.API))

    match name.partition("_")[0]:
        case "slack":
            simulated_slack.play(slack)
        case "jira":
            at = {"issue": "OPS-7"}
            jira.play(lambda room: act(jira.call_of(room, **at), bind_all(JIRA_TOOLS, jira.API)))
        case "notion":
            notion.play(lambda _, call: act(call, bind_all(NOTION_TOOLS, notion.API)))
        case _:
            api = GitHubApi(github.API, Secret(github.TOKEN))
            github.play(lambda _, call: act(call, bind_all(GITHUB_TOOLS, api)))
    result, call = came
    return [result], call


def test_mock_of_a_message_change_returns_the_result_of_the_tool() -> None:
    async def story(_: Any, call: Call) -> None:
        tools = bind_all(SLACK_TOOLS, simulated_slack.API)
        said = await over_http("slack_post_message", {"text": "hello"}, call, tools)
        asked = await over_http("slack_ask_approval", QUESTION, call, tools)
        for name, arguments in [
            ("slack_update_message", {"ts": said.details["ts"], "text": "bye"}),
            ("slack_delete_message", {"ts": said.details["ts"]}),
            ("slack_close_question", {**asked.details, "ending": "Denied."}),
        ]:
            real, mock = await over_http(name, arguments, call, tools), of_mock(name, arguments, call)
            assert mock == real

    simulated_slack.play(story)


def of_mock(name: str, arguments: Mapping[str, object], call: Call) -> ToolResult:
    tool = ALL[name]
    assert tool.mock is not None
    parsed = tool.parse(arguments)
    made = tool.mock(call, parsed)
    # A mock depends on the arguments and the place only, not on time, run or repetition.
    again = replace(call, key="run2/call/9", clock=SetClock(5.0), since=1.0)
    assert tool.mock(again, parsed) == made
    return made


class Several(list[object]):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Several) and (not self or not other or list(self) == list(other))

    __hash__ = None  # type: ignore[assignment]


def shape(value: object, name: str = "") -> object:
    """Return the keys of a value and the type of each; a list has the shape of its first item."""
    match value:
        case _ if name in OF_ANY_KIND:
            return "anything"
        case dict() if name in BY_NAME:
            return {"of each": [shape(one) for one in value.values()][:1]}
        case dict():
            return {key: shape(one, key) for key, one in value.items()}
        case list() | tuple():
            # An empty list matches a list of any items.
            return Several([shape(one) for one in value][:1])
        case _:
            return type(value).__name__


def form(text: str) -> set[str]:
    """Return how Gofer's own lines begin, without lines that begin with a name."""
    ours = (line for line in text.splitlines() if not line.startswith((" ", "-", "@", "Some")))
    return {begins for line in ours if (begins := re.split(r"[:“(#]|\d", line)[0].strip())}


@pytest.mark.parametrize(("name", "arguments"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_mock_result_has_the_form_of_the_tool_result(name: str, arguments: Mapping[str, object]) -> None:
    (real,), call = played(name, arguments, {})
    assert isinstance(real, ToolResult), real
    mock = of_mock(name, arguments, call)
    assert shape(mock.details) == shape(real.details)
    assert shape(mock.value) == shape(real.value)
    assert form(mock.text) <= form(real.text)
    assert mock.summary.split()[0] == real.summary.split()[0]


@pytest.mark.parametrize(("name", "arguments", "place"), REFUSED)
def test_mock_refuses_arguments_in_the_words_of_the_tool(
    name: str, arguments: Mapping[str, object], place: Mapping[str, str]
) -> None:
    (real,), call = played(name, arguments, place)
    with pytest.raises(ToolError) as refused:
        of_mock(name, arguments, call)
    assert refused.value.message_to_model == real


LOOKED_UP = """
slack_get_user:
  - {arguments: {name: "@Lee*"}, details: {kind: guest}}
  - {arguments: {name: nobody}, refusal: There is no person of that name., code: user_not_found}
jira_search: {text: Nothing., value: [1]}
"""


async def test_mock_overrides_replace_only_the_named_fields_and_calls() -> None:
    tools = mocked(ALL, read_overrides(LOOKED_UP, "mocks.yaml", ALL))
    call = any_call(Nobody(), place=NOWHERE)

    async def give(name: str, /, **arguments: object) -> ToolResult:
        return await tools[name].act(call, tools[name].parse(arguments))

    lee, kim = await give("slack_get_user", name="@lee.w"), await give("slack_get_user", name="Kim")
    assert (lee.details["kind"], lee.details["team"], kim.details["kind"]) == ("guest", "T1", "member")
    with pytest.raises(ToolError, match="There is no person of that name") as refused:
        await give("slack_get_user", name="Nobody")
    assert refused.value.code == "user_not_found"
    found = await give("jira_search", text="x")
    assert (found.text, found.value, shape(found.details)) == (
        "Nothing.",
        [1],
        shape(of_mock("jira_search", {"text": "x"}, call).details),
    )
    assert {await tool.in_doubt.look(call, Arguments()) for tool in tools.values() if tool.in_doubt.look} == {None}


class Nobody:
    async def send(self, request: HttpRequest) -> HttpResponse:
        raise AssertionError("nothing outside is reached")


async def test_tool_without_a_mock_is_refused_before_any_request() -> None:
    async def act(call: Call, arguments: Arguments) -> ToolResult:
        await call.http.send(HttpRequest("GET", "http://127.0.0.1/", {}, b""))
        return ToolResult("", "")

    tools = mocked({"bare": Tool("bare", "Bare.", "read", Arguments, act)}, {})
    call = any_call(Nobody(), place=NOWHERE)
    with pytest.raises(ToolError, match="bare has no mock and cannot reach its system here"):
        await tools["bare"].act(call, Arguments())


@pytest.mark.parametrize("effect", ["keyed", "blind"])
async def test_writing_tool_without_a_mock_runs_only_with_a_result_in_the_file(effect: Effect) -> None:
    acted: list[Arguments] = []

    async def act(call: Call, arguments: Arguments) -> ToolResult:
        acted.append(arguments)
        return ToolResult("", "")

    bare = {"bare": Tool("bare", "Bare.", effect, Arguments, act)}
    call = any_call(Nobody(), place=NOWHERE)
    with pytest.raises(ToolError) as refused:
        await mocked(bare, {})["bare"].act(call, Arguments())
    assert refused.value.message_to_model == (
        "bare writes and has no mock, so it was not called here; add one with `@bare.mock`, or set its result under "
        "`mocks` of the eval or in the file of --mocks."
    )
    assert refused.value.code == "no_mock"
    given = mocked(bare, read_overrides("bare: {text: done}", "mocks.yaml", bare))
    assert (await given["bare"].act(call, Arguments())).text == "done"
    assert acted == []


@pytest.mark.parametrize(
    "text", ["a: b", "a: [1]", "a: {text: 1}", "a: {code: x, text: y}", "a: {}", "1: {text: x}", "'"]
)
def test_malformed_mock_overrides_are_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^mocks\.yaml .*\.$"):
        read_overrides(text, "mocks.yaml", ALL)
