"""The addresses that a run read: whole, from outside, and before its model wrote them."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gofer.journal import entries as e
from gofer.journal.workspace_entries import FileAdded
from gofer.projections.read_addresses import ReadAddresses, fold, project
from gofer.values.messages import ToolAsk, Usage
from support.stand_ins import mention

PAGE = "https://held.example/a?x=1"
KEY = "held.example/a?x=1"


def recorded(entries: Sequence[e.Entry]) -> list[e.Recorded]:
    return [e.Recorded(n, 0, n, "me", entry) for n, entry in enumerate(entries, 1)]


def read(*entries: e.Entry) -> set[str]:
    return project(recorded(entries)).read


def says(text: str, *asks: tuple[str, str]) -> e.LlmResponse:
    made = tuple(ToolAsk(f"c{index}", tool, arguments) for index, (tool, arguments) in enumerate(asks))
    return e.LlmResponse(text, made, "stop", "m", Usage(), None, 0)


def answered(text: str, addresses: tuple[str, ...] = ()) -> e.SubagentFinished:
    return e.SubagentFinished("1.0", "ok", text, "m", Usage(), None, 0, addresses=addresses)


def test_addresses_of_event_messages_and_results_are_read() -> None:
    event = replace(mention(), text=f"see <{PAGE}|this>", facts={"url": "https://held.example/b"})
    assert read(e.RunAccepted(event, "w")) >= {KEY, "held.example/b"}
    assert read(e.MessageReceived(f"A thread: {PAGE}.")) >= {KEY}
    assert read(e.ToolResult("1.0", "ok", f'{{"url":"{PAGE}"}}')) >= {KEY}
    assert read(e.ToolResult("1.0", "ok", "", details={"pages": [{"url": PAGE}]})) >= {KEY}
    assert read(e.ToolResult("1.0", "ok", "", value=[f"[x]({PAGE})"])) >= {KEY}


def test_address_that_a_tool_only_repeats_is_not_read() -> None:
    written = says("", ("note", f'{{"text": "{PAGE}"}}'))
    assert KEY not in read(written, e.ToolResult("1.0", "ok", f"Noted: {PAGE}"), e.ToolResult("2.0", "ok", PAGE))
    assert KEY not in read(says(f"I will open {PAGE}"), e.MessageReceived(f"Your words: {PAGE}"))


def test_person_may_name_an_address_that_the_model_wrote_first() -> None:
    assert KEY in read(says(PAGE), e.MessageReceived(f"yes, {PAGE}", "item1"))


def test_results_that_a_model_composes_are_not_read() -> None:
    code = says("", ("python", '{"code": "print(a + b)"}'))
    assert KEY not in read(code, e.ToolResult("1.0", "ok", PAGE))
    made = FileAdded("file_1", "a.txt", "text/plain", 9, "python", body="b")
    part = FileAdded("file_2", "b.txt", "text/plain", 9, "x.txt of file_1", body="b")
    looked = says("", ("file_read", '{"file": "file_2"}'))
    assert KEY not in read(code, made, part, looked, e.ToolResult("2.0", "ok", PAGE))
    held = says("", ("file_read", '{"file": "file_3"}'))
    assert KEY in read(code, made, held, e.ToolResult("2.0", "ok", PAGE))


def test_address_in_code_is_not_read_unless_a_person_wrote_the_code() -> None:
    for code in (
        f"`{PAGE}`",
        f"`` a ` {PAGE} ``",
        f"    ```sh\n    curl {PAGE}\n    ```",
        f"| ~~~\n| {PAGE}",
        f"`a\n{PAGE}`",
    ):
        assert KEY not in read(e.MessageReceived(f"@Gofer at 10:00:\n\n{code}"), e.ToolResult("1.0", "ok", code))
        assert KEY in read(e.ToolResult("1.0", "ok", f"{PAGE} and\n\n{code}"))
        assert KEY in read(e.RunAccepted(replace(mention(), text=code), "w"))
    assert KEY in read(e.ToolResult("1.0", "ok", f"a ` sign\n\n{PAGE}\n\nand another `"))


def test_plans_and_files_that_earlier_runs_composed_are_not_read() -> None:
    plan = says("", ("todo_read", "{}"))
    assert KEY not in read(plan, e.ToolResult("1.0", "ok", f"[ ] 1 {PAGE}"))
    looked = says("", ("file_read", '{"file": "file_1"}'))
    for origin in ("subagent summarise", "this conversation", "python"):
        file = FileAdded("file_1", "a.txt", "text/plain", 9, origin, body="b")
        assert KEY not in read(file, looked, e.ToolResult("1.0", "ok", PAGE))


def test_answer_of_a_subagent_brings_addresses_that_the_subagent_read() -> None:
    assert KEY in read(answered(PAGE, (KEY,)), e.ToolResult("1.0", "ok", PAGE))
    assert KEY not in read(answered(PAGE), e.ToolResult("1.0", "ok", PAGE))


def test_read_addresses_of_begun_calls_are_requested() -> None:
    other = "https://held.example/b"
    asked = says(
        "", ("fetch", f'{{"url": "{PAGE}"}}'), ("fetch", f'{{"url": "{other}"}}'), ("mail", '{"to": "a@held.example"}')
    )
    begun = [e.ToolCall("1.0", "fetch", "read"), e.ToolCall("1.2", "mail", "keyed")]
    state = project(recorded([e.ToolResult("0.0", "ok", f"{PAGE} {other} a@held.example"), asked, *begun]))
    assert state.requested == {KEY}
    assert state.asked["1.1"] == {"held.example/b"}


addresses = st.sampled_from([PAGE, "https://held.example/b", "www.held.example", "a@held.example", "o/r#1", "words"])
entries = st.one_of(
    st.builds(says, addresses),
    st.builds(lambda text: says("", ("post", f'{{"text": "{text}"}}')), addresses),
    st.builds(lambda text: says("", ("jq", f'{{"file": "file_1", "filter": "{text}"}}')), addresses),
    st.builds(e.ToolCall, st.sampled_from(["1.0", "2.0"]), st.just("post"), st.sampled_from(["read", "keyed"])),
    st.builds(e.MessageReceived, addresses, st.sampled_from(["", "item"])),
    st.builds(e.ToolResult, st.sampled_from(["1.0", "2.0", "3.0"]), st.just("ok"), addresses),
    st.builds(answered, addresses),
)


@given(st.lists(entries, max_size=12), st.integers(0, 12))
def test_folding_on_equals_projecting_the_whole_journal(made: list[e.Entry], cut: int) -> None:
    journal = recorded(made)
    state: ReadAddresses = project(journal[:cut])
    for entry in journal[cut:]:
        fold(state, entry)
    assert state == project(journal)
    assert not state.read & state.written
