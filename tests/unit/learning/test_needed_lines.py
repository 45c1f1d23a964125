"""The lines of workflow files that recorded runs would have needed."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gofer.journal.approval_entries import ApprovalRequested
from gofer.journal.entries import Entry, LlmResponse, ToolCall, ToolResult
from gofer.journal.purposes import ACTOR
from gofer.learning.needed_lines import needed_by, needed_text
from gofer.runtime.run_record import RunRecord
from gofer.sources.workflow_files import ReadableForm
from gofer.tools.definition import Arguments, Call, InDoubt, Target, Tool
from gofer.tools.definition import ToolResult as Answer
from gofer.tools.places import Origin, Place
from gofer.tools.readable import hidden
from gofer.values.messages import ToolAsk, Usage
from gofer.workflows.grants import Grant
from gofer.workflows.schema import Workflow
from support.engine.memory_run import memory_run
from support.learning.ended_run import ended_run
from support.stand_ins import mention

PAGE = "5f1c7d2e-0a3b-4c4d-8e9f-00000000d0c5"


class Post(Arguments):
    channel: str = ""
    url: str = ""


async def act(call: Call, arguments: Post) -> Answer:
    return Answer("posted", "posted")


def place_of(origin: Origin, arguments: Post) -> Place:
    kind = "person" if arguments.channel.startswith("@") else "channel"
    return Place("slack", kind, arguments.channel.lstrip("#"))


POST = Tool(
    name="slack_post_message",
    description="Post.",
    effect="lookup",
    arguments=Post,
    act=act,
    target=Target(system="Slack", where=place_of),
    in_doubt=InDoubt(look=act),
)


def workflow(most: int | None = None, links: tuple[str, ...] = ()) -> Workflow:
    grants = (Grant(name=POST.name, most=most),)
    return memory_run().bundle().loaded.workflow.model_copy(update={"tools": grants, "links": links})


def asked(*asks: str) -> LlmResponse:
    calls = tuple(ToolAsk(f"c{number}", POST.name, arguments) for number, arguments in enumerate(asks))
    return LlmResponse("", calls, "tool_calls", "m", Usage(), 0.0, 5)


def refused(call: str, code: str) -> ToolResult:
    return ToolResult(call, "refused", "Not called.", details={"code": code})


def lines(*entries: Entry, made: Workflow | None = None, place: Mapping[str, str] | None = None) -> list[str]:
    record = run("r1", *entries)
    if place is not None and record.progress.event is not None:
        record.progress.event = replace(record.progress.event, place=place)
    needed = needed_by([record], {"w": made or workflow()}, {POST.name: POST})
    return [line for found in needed.values() for line in found]


def run(name: str, *entries: Entry) -> RunRecord:
    member = {"kind": "member", "team": mention().place["team"]}
    return ended_run(name, ToolResult(ACTOR, "ok", "Ada", details=member), *entries)


def test_refused_place_needs_an_entry_of_writes() -> None:
    assert lines(asked('{"channel": "#eng"}'), refused("1.0", "elsewhere")) == ['writes: {slack: ["#eng"]}']


def test_place_of_a_question_needs_an_entry_of_writes() -> None:
    question = ApprovalRequested("1.0", POST.name, "", ("requester",), 0, about="elsewhere")
    assert lines(asked('{"channel": "#eng"}'), question) == ['writes: {slack: ["#eng"]}']


def test_message_to_a_person_needs_no_line() -> None:
    assert lines(asked('{"channel": "@ada"}'), refused("1.0", "elsewhere")) == []


def test_calls_beyond_the_limit_need_a_higher_one() -> None:
    calls = [ToolCall(f"1.{number}", POST.name, "lookup", {}) for number in range(5)]
    assert lines(*calls) == ["tools: [{slack_post_message: {most: 5}}]"]
    assert lines(*calls[:3]) == []
    assert lines(*calls, made=workflow(most=5)) == []


def test_refused_address_needs_its_host_in_links() -> None:
    entries = (asked('{"url": "https://wiki.example/page?id=1"}'), refused("1.0", "unread_address"))
    assert lines(*entries) == ["links: [wiki.example]"]
    assert lines(*entries, made=workflow(links=("wiki.example",))) == []


def read(tool: str, arguments: Mapping[str, object], text: str = "", **details: object) -> tuple[Entry, Entry]:
    outcome = ToolResult("1.0", "ok" if details else "error", text, details=details or {"code": "not_found"})
    return ToolCall("1.0", tool, "read", arguments), outcome


@pytest.mark.parametrize(
    ("tool", "arguments", "line"),
    [
        ("jira_get_issue", {"issue": "HR-7"}, "reads: {jira: [HR]}"),
        ("jira_get_issue", {"issue": "https://acme.atlassian.net/browse/HR-7"}, "reads: {jira: [HR]}"),
        ("github_read_file", {"repository": "acme/vault", "path": "a.py"}, "reads: {github: [acme/vault]}"),
        ("github_get_issue", {"url": "https://github.com/acme/vault/issues/3"}, "reads: {github: [acme/vault]}"),
        ("notion_get_page", {"page": PAGE}, f"reads: {{notion: [{PAGE}]}}"),
    ],
)
def test_hidden_read_needs_an_entry_of_reads(tool: str, arguments: Mapping[str, object], line: str) -> None:
    assert lines(*read(tool, arguments, str(hidden("Not there.")))) == [line]
    assert lines(*read(tool, arguments, "Jira does not answer.")) == []


def test_read_of_an_earlier_version_that_would_now_be_hidden_needs_an_entry_of_reads() -> None:
    assert lines(*read("jira_get_issue", {"issue": "HR-7"}, private=True)) == ["reads: {jira: [HR]}"]
    assert lines(*read("jira_get_issue", {"issue": "HR-7"}, private=False)) == []
    assert lines(*read("slack_read_channel", {"issue": "HR-7"}, private=True)) == []


def test_read_for_outsiders_in_another_system_needs_an_entry_of_reads() -> None:
    entries = read("jira_get_issue", {"issue": "OPS-7"}, private=False)
    place = {"team": "T1", "channel": "C1", "shared": "true"}
    assert lines(*entries, place=place) == ["reads: {jira: [OPS]}"]


def test_listed_read_needs_no_line() -> None:
    listed = workflow().model_copy(update={"reads": ReadableForm.model_validate({"jira": ["HR"], "github": ["acme"]})})
    for tool, arguments in (("jira_get_issue", {"issue": "HR-7"}), ("github_read_file", {"repository": "acme/vault"})):
        assert lines(*read(tool, arguments, str(hidden("Not there."))), made=listed) == []


def test_lines_are_counted_by_run_and_say_that_a_person_decides() -> None:
    entries = (
        asked('{"channel": "#eng"}', '{"channel": "#eng"}'),
        refused("1.0", "elsewhere"),
        refused("1.1", "elsewhere"),
    )
    runs = [run("r1", *entries), run("r2", *entries)]
    assert list(needed_text(needed_by(runs, {"w": workflow()}, {POST.name: POST}), 30)) == [
        "Runs of the last 30 days would have needed these lines. Add one only if the workflow is meant to do so:",
        "  agents/w.yaml",
        '    writes: {slack: ["#eng"]}  (2 of its runs)',
    ]


def test_run_of_a_removed_workflow_needs_no_line() -> None:
    entries = (asked('{"channel": "#eng"}'), refused("1.0", "elsewhere"))
    assert needed_by([run("r1", *entries)], {}, {POST.name: POST}) == {}
    assert list(needed_text({}, 30)) == []
