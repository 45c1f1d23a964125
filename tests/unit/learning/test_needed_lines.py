"""The lines of workflow files that recorded runs would have needed."""

from gofer.journal.approval_entries import ApprovalRequested
from gofer.journal.entries import Entry, LlmResponse, ToolCall, ToolResult
from gofer.learning.needed_lines import needed_by, needed_text
from gofer.runtime.run_record import RunRecord
from gofer.tools.definition import Arguments, Call, InDoubt, Target, Tool
from gofer.tools.definition import ToolResult as Answer
from gofer.tools.places import Origin, Place
from gofer.values.messages import ToolAsk, Usage
from gofer.workflows.grants import Grant
from gofer.workflows.schema import Workflow
from support.engine.memory_run import memory_run
from support.learning.ended_run import ended_run


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


def lines(*entries: Entry, made: Workflow | None = None) -> list[str]:
    needed = needed_by([run("r1", *entries)], {"w": made or workflow()}, {POST.name: POST})
    return [line for found in needed.values() for line in found]


def run(name: str, *entries: Entry) -> RunRecord:
    return ended_run(name, *entries)


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
