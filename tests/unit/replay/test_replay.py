"""Replays of recorded runs: equal, reworded, diverged and incomplete ones."""

from dataclasses import replace

import pytest

from gofer.journal import entries as e
from gofer.journal import inbox
from gofer.replay.changes import Changes
from gofer.replay.comparison import difference
from gofer.replay.recorded_run import RecordedRun
from gofer.replay.replay import replay
from gofer.tools.definition import Arguments, Call, ToolResult
from support.engine.memory_run import says
from support.replay.recorded import edited, recorded_by, replayed
from support.runtime.memory_worker import MemoryWorker, memory_worker
from support.runtime.worker_parts import catalog_of

pytestmark = pytest.mark.anyio
Ask = tuple[str, dict[str, object] | str]

READ: Ask = ("slack_read_thread", {"ts": "1.0"})


async def played() -> tuple[MemoryWorker, RecordedRun]:
    """Return a worker and the recording of its run, which read a thread and answered."""
    made = memory_worker(says("", READ), says("Hello."))
    made.grant("slack_read_thread")
    await made.accept("run1", private=False)
    await made.work_once()
    return made, await recorded_by(made)


async def test_replay_of_an_unchanged_run_is_identical_and_reaches_no_tool() -> None:
    made, recorded = await played()
    posted = [*made.posted]
    asked = len(made.model.requests)
    again = await replayed(made, recorded)
    assert (again.outcome, again.divergences, again.reason) == ("identical", [], "")
    assert again.journals["run1"] == recorded.entries
    assert (made.posted, len(made.model.requests)) == (posted, asked)


async def test_each_beginning_of_a_recorded_run_replays_without_a_difference() -> None:
    made, recorded = await played()
    for end in range(1, len(recorded.entries)):
        part = replace(recorded, journals={"run1": recorded.entries[:end]})
        again = await replayed(made, part)
        assert (again.outcome, again.divergences) in (("incomplete", []), ("identical", [])), end


async def test_other_words_of_gofer_are_reworded_and_no_divergence() -> None:
    made, recorded = await played()

    def reword(entry: e.Entry) -> e.Entry:
        match entry:
            case e.ToolCall(call="status/1", arguments=dict() as said):
                return replace(entry, arguments={**said, "text": "I have _begun_ with it."})
            case _:
                return entry

    again = await replayed(made, edited(recorded, reword))
    assert again.outcome == "reworded"
    (one,) = again.divergences
    assert (one.kind, one.step, one.field, one.cause) == ("reworded", "tool.call status/1", "arguments.text", "")
    assert one.original == "I have _begun_ with it."


def other_requests(entry: e.Entry) -> e.Entry:
    """Return an entry with other words in the tail of each request, and with another first message."""
    match entry:
        case e.LlmRequest():
            return replace(entry, tail=entry.tail.replace("tokens", "pieces of text"))
        case e.MessageReceived():
            return replace(entry, text=f"{entry.text}\nA line that is not there any more.")
        case _:
            return entry


async def test_texts_that_a_model_reads_are_never_only_words_of_gofer() -> None:
    made, recorded = await played()
    again = await replayed(made, edited(recorded, other_requests))
    assert again.outcome == "diverged"
    assert [(one.kind, one.step, one.field) for one in again.divergences] == [
        ("read", "message.received", "text"),
        ("read", "llm.request", "tail"),
    ]
    assert again.first == again.divergences[0]


def test_question_for_a_summary_is_a_text_that_a_model_reads() -> None:
    ten, eleven = (e.SubagentStarted("compaction/1", "compaction", f"At most {n} words.", {}) for n in (10, 11))
    found = difference(ten, eleven)
    assert found is not None
    assert (found.kind, found.field) == ("read", "prompt")
    other = difference(replace(ten, call="1.0"), replace(eleven, call="1.0"))
    assert other is not None
    assert other.kind == "different"


async def test_requests_of_an_older_version_are_listed_and_the_rest_is_compared() -> None:
    made, recorded = await played()

    def older(entry: e.Entry) -> e.Entry:
        if isinstance(entry, e.RunOwned):
            return e.RunOwned("0.0.9")
        return other_requests(entry)

    again = await replayed(made, edited(recorded, older))
    assert (again.outcome, again.first) == ("updated", None)
    assert [(one.kind, one.field, one.cause) for one in again.divergences] == [
        ("read", "text", "upgrade"),
        ("read", "tail", "upgrade"),
    ]

    def with_another_call(entry: e.Entry) -> e.Entry:
        if isinstance(entry, e.ToolCall) and entry.call == "1.0":
            return replace(entry, tool="slack_search")
        return older(entry)

    diverged = await replayed(made, edited(recorded, with_another_call))
    assert diverged.outcome == "diverged"
    assert diverged.first is not None
    assert (diverged.first.step, diverged.first.field) == ("tool.call 1.0", "tool")


async def test_messages_that_gofer_adds_or_leaves_out_are_told_apart() -> None:
    made, recorded = await played()

    def without_status(entry: e.Entry) -> e.Entry | None:
        if isinstance(entry, e.ToolCall | e.ToolResult) and entry.call == "status/1":
            return None
        return entry

    again = await replayed(made, edited(recorded, without_status))
    assert again.outcome == "reworded"
    assert [(one.kind, one.step) for one in again.divergences] == [
        ("added", "tool.call status/1"),
        ("added", "tool.call answer/1"),
    ]

    def with_summary(entry: e.Entry) -> e.Entry:
        if isinstance(entry, e.ToolCall | e.ToolResult) and entry.call == "status/1":
            return replace(entry, call="summary/1")
        return entry

    moved = await replayed(made, edited(recorded, with_summary))
    assert moved.outcome == "reworded"
    assert ("added", "tool.call summary/1", None) in [(one.kind, one.step, one.replayed) for one in moved.divergences]


async def test_channel_for_logs_that_was_switched_on_or_off_is_no_difference() -> None:
    made, recorded = await played()
    catalog = catalog_of(made.worker)
    logged = replace(catalog, defaults=catalog.defaults.model_copy(update={"ai_logs": "#logs"}))
    services = made.worker.services
    on = await replay(recorded, services, logged)
    assert on.outcome == "reworded"
    assert [(one.kind, one.step, one.original) for one in on.divergences] == [("added", "tool.call summary/1", None)]
    with_summary = replace(recorded, journals=on.journals)
    off = await replay(with_summary, services, catalog)
    assert off.outcome == "reworded"
    assert [(one.kind, one.step, one.replayed) for one in off.divergences] == [("added", "tool.call summary/1", None)]


@pytest.mark.parametrize(
    ("edit", "kind", "step", "field"),
    [
        ("tool", "different", "tool.call 1.0", "tool"),
        ("dropped", "extra", "tool.call 1.0", ""),
        ("status", "different", "run.concluded", "status"),
    ],
)
async def test_first_step_that_differs_is_named(edit: str, kind: str, step: str, field: str) -> None:
    made, recorded = await played()

    def change(entry: e.Entry) -> e.Entry | None:
        match edit, entry:
            case "tool", e.ToolCall(call="1.0"):
                return replace(entry, tool="slack_search")
            case "dropped", e.ToolCall(call="1.0"):
                return None
            case "status", e.RunConcluded():
                return replace(entry, status="limited")
            case _:
                return entry

    again = await replayed(made, edited(recorded, change))
    first = again.first
    assert first is not None
    assert again.outcome == "diverged"
    assert (first.kind, first.step, first.field) == (kind, step, field)


async def test_request_with_bytes_that_cannot_be_built_again_differs() -> None:
    made, recorded = await played()

    def change(entry: e.Entry) -> e.Entry:
        if isinstance(entry, e.LlmRequest):
            return replace(entry, prefix_sha256="0" * 64)
        return entry

    again = await replayed(made, edited(recorded, change))
    assert again.outcome == "diverged"
    (one,) = again.divergences
    assert (one.kind, one.field, one.original) == ("read", "messages", "0" * 64)


async def test_overridden_result_changes_the_next_request_and_asks_no_model() -> None:
    made, recorded = await played()
    again = await replayed(made, recorded, Changes(overrides={"1.0": "Nothing was said."}))
    result, request = again.divergences
    assert again.outcome == "inconclusive"
    assert (result.step, result.original, result.replayed) == (
        "tool.result 1.0",
        "Thread in #deploys",
        "Nothing was said.",
    )
    assert (request.step, request.field, request.cause) == ("llm.request", "message 3", "input")
    assert "no model answered it, because the recorded run did not send it" in again.reason


async def test_replay_ends_before_the_named_call() -> None:
    made, recorded = await played()
    again = await replayed(made, recorded, Changes(until="1.0"))
    assert (again.outcome, again.divergences) == ("incomplete", [])
    assert isinstance(again.journals["run1"][-1].entry, e.LlmResponse)


async def test_changed_prompt_diverges_at_the_first_request_only_if_the_words_differ() -> None:
    made, recorded = await played()
    bundle = recorded.bundles["run1"]
    loaded = replace(bundle.loaded, prompt_span=(0, len(bundle.loaded.system)))
    spanned = replace(recorded, bundles={"run1": replace(bundle, loaded=loaded)})
    same = await replayed(made, spanned, Changes(prompt=bundle.loaded.system))
    assert same.outcome == "identical"
    other = await replayed(made, spanned, Changes(prompt="Be long."))
    first = other.first
    assert first is not None
    assert (first.step, first.field, first.cause) == ("llm.request", "system prompt", "input")
    assert (first.original, first.replayed) == ("Be brief.", "Be long.")


async def test_other_files_in_place_of_the_recorded_ones_diverge_like_another_prompt() -> None:
    made, recorded = await played()
    bundle = recorded.bundles["run1"]
    assert (await replayed(made, recorded, Changes(bundle=bundle))).outcome == "identical"
    changed = replace(bundle, loaded=replace(bundle.loaded, system="Be long."))
    first = (await replayed(made, recorded, Changes(bundle=changed))).first
    assert first is not None
    assert (first.field, first.cause, first.replayed) == ("system prompt", "input", "Be long.")


async def test_other_orders_of_parallel_reads_leave_the_run_as_recorded() -> None:
    other: Ask = ("slack_read_thread", {"ts": "2.0"})
    made = memory_worker(says("", READ, other), says("Hello."))
    made.grant("slack_read_thread")
    await made.accept("run1", private=False)
    await made.work_once()
    recorded = await recorded_by(made)
    for order in range(5):
        assert (await replayed(made, recorded, Changes(order=order))).outcome == "identical"


async def test_writes_in_another_order_diverge() -> None:
    posts: list[Ask] = [("slack_post_message", {"text": text}) for text in ("One.", "Two.")]
    made = memory_worker(says("", *posts), says("Hello."))
    made.grant("slack_post_message")
    await made.accept("run1", private=False)
    await made.work_once()
    recorded = await recorded_by(made)
    calls = [
        at for at, one in enumerate(recorded.entries) if isinstance(one.entry, e.ToolCall) and "." in one.entry.call
    ]
    swapped = [*recorded.entries]
    first, second = calls
    swapped[first], swapped[second] = (
        replace(recorded.entries[first], entry=recorded.entries[second].entry),
        replace(recorded.entries[second], entry=recorded.entries[first].entry),
    )
    again = await replayed(made, replace(recorded, journals={"run1": swapped}))
    assert again.first is not None
    assert (again.first.step, again.first.field) == ("tool.call 1.1", "order")


async def test_tool_that_acts_by_other_means_is_never_called_by_a_replay() -> None:
    made, recorded = await played()
    touched: list[str] = []
    tools = made.worker.services.tools

    async def touch(call: Call, arguments: Arguments) -> ToolResult:
        touched.append("called")
        return ToolResult("Touched.", "touched")

    acting = {name: replace(tool, act=touch) for name, tool in tools.items()}
    made.worker = replace(made.worker, services=replace(made.worker.services, tools=acting))
    for changes in (Changes(), Changes(overrides={"1.0": "Nothing."}), Changes(order=1)):
        await replayed(made, recorded, changes)
    assert touched == []


async def test_call_that_a_gate_refused_and_permits_now_diverges() -> None:
    post: Ask = ("slack_post_message", {"text": "One."})
    made = memory_worker(says("", post), says("Hello."))
    made.grant("slack_post_message")
    await made.accept("run1", private=False)
    await made.work_once()

    def refuse(entry: e.Entry) -> e.Entry | None:
        match entry:
            case e.ToolCall(call="1.0"):
                return None
            case e.ToolResult(call="1.0"):
                return replace(entry, status="refused", details={"code": "elsewhere"})
            case _:
                return entry

    again = await replayed(made, edited(await recorded_by(made), refuse))
    assert again.first is not None
    assert (again.first.kind, again.first.step) == ("extra", "tool.call 1.0")


async def test_feedback_and_the_review_are_no_steps_of_a_replay() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1", private=False)
    await made.work_once()
    for item_id, item in {"feedback": e.FeedbackGiven("bad", "U1"), "review": e.RunReviewed(effective=False)}.items():
        await inbox.put(made.store, "run1", item_id, item)
    await made.queue.enqueue("run1")
    await made.work_once()
    recorded = await recorded_by(made)
    assert isinstance(recorded.entries[-1].entry, e.FollowUp)
    again = await replayed(made, recorded)
    assert (again.outcome, again.divergences) == ("identical", [])
