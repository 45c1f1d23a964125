"""A replay with a change: the change is named, and calls and answers stand beside the recorded ones."""

import json
from dataclasses import replace

import pytest

from gofer.models.language_model import Answer
from gofer.replay.changed_replay import ChangedReplay, changed_json, changed_lines
from gofer.replay.changes import Changes
from gofer.replay.divergence import Divergence
from support.engine.memory_run import says
from support.replay.recorded import recorded_by, replayed
from support.runtime.memory_worker import memory_worker

pytestmark = pytest.mark.anyio

READ: tuple[str, dict[str, object]] = ("slack_read_thread", {"ts": "1.0"})
POST: tuple[str, dict[str, object]] = ("slack_post_message", {"channel": "C0DEPLOY0", "text": "Restarted."})
SILENT = {"1.0": "Nobody wrote."}


async def made_with(changes: Changes, *answers: Answer) -> ChangedReplay:
    """Return the replay of a run that read a thread, posted a message and answered."""
    made = memory_worker(says("", READ), says("", POST), says("All restarted."))
    made.grant("slack_read_thread", "slack_post_message")
    await made.accept("run1", private=False)
    await made.work_once()
    recorded = await recorded_by(made)
    made.model.answers = [*answers]
    return ChangedReplay(recorded, await replayed(made, recorded, changes), changes)


def lines_of(made: ChangedReplay) -> list[str]:
    """Return the lines after the counts of steps."""
    return list(changed_lines(made))[2:]


async def test_overridden_result_is_the_change_and_the_old_answer_has_no_new_one_without_a_model() -> None:
    made = await made_with(Changes(overrides=SILENT))
    assert [line.partition(":")[0] for line in lines_of(made)[:2]] == [
        "  The replay ends at request 7.1",
        "  your change",
    ]
    assert lines_of(made)[1:] == [
        "  your change: the result of 1.0, which is now: Nobody wrote.",
        "  calls, recorded and replayed",
        '    same         1.0 slack_read_thread  {"ts":"1.0"}',
        '    not reached  2.0 slack_post_message  {"channel":"C0DEPLOY0","text":"Restart…',
        "  answer",
        "    recorded     All restarted.",
        "    replayed     none: the replay ended before it; add --model live to ask a",
        "                 model from there on",
    ]
    found = changed_json(made)
    assert (found["differences"], found["answer"]) == ([], {"recorded": "All restarted.", "replayed": None})
    assert "Nobody wrote." in json.dumps(found["change"])


async def test_new_calls_and_the_new_answer_of_a_live_model_are_beside_the_old_ones() -> None:
    again = ("slack_read_thread", {"ts": "2.0"})
    other = ("slack_post_message", {"channel": "C0DEPLOY0", "text": "Nothing to restart."})
    made = await made_with(
        Changes(overrides=SILENT, live=True), says("", other), says("", again), says("Quiet.\n\nAll.")
    )
    lines = lines_of(made)
    assert lines[lines.index("  calls, recorded and replayed") + 1 :] == [
        '    same         1.0 slack_read_thread  {"ts":"1.0"}',
        "    changed      2.0 slack_post_message  text: Restarted. → Nothing to restart.",
        '    in addition  3.0 slack_read_thread  {"ts":"2.0"}',
        "  answer",
        "    recorded     All restarted.",
        "    replayed     Quiet.",
        "",
        "                 All.",
    ]
    assert not [line for line in lines if "first difference" in line and "tool.result 1.0" in line]
    calls = changed_json(made)["calls"]
    assert [call["change"] for call in calls] == ["same", "changed", "in addition"]  # type: ignore[attr-defined]


async def test_call_that_the_model_leaves_out_after_a_change_is_named() -> None:
    made = await made_with(Changes(overrides=SILENT, live=True), says("Hello."))
    lines = lines_of(made)
    assert '    left out     2.0 slack_post_message  {"channel":"C0DEPLOY0","text":"Restart…' in lines
    assert lines[-1] == "    replayed     Hello."


async def test_long_calls_and_answers_fit_a_terminal() -> None:
    long = ("slack_post_message", {"channel": "C0DEPLOY0", "text": "word " * 90})
    made = await made_with(Changes(overrides=SILENT, live=True), says("", long), says("An answer. " * 200))
    lines = lines_of(made)
    shown = lines[lines.index("  calls, recorded and replayed") :]
    assert max(map(len, shown)) <= 80
    assert lines[-1].endswith("more lines; --json has the whole answer")


async def test_request_that_differs_before_the_change_is_a_difference() -> None:
    made = await made_with(Changes(overrides=SILENT))
    earlier = Divergence("different", "run1", "5.1", "llm.request", "message 1", "Hello.", "Hel")
    cut = replace(made, replay=replace(made.replay, divergences=[earlier, *made.replay.divergences]))
    assert len(made.typed) == 2
    assert cut.typed == []
    assert any("first difference: llm.request (5.1), message 1" in line for line in changed_lines(cut))


async def test_replay_without_a_change_has_no_further_lines() -> None:
    made = await made_with(Changes())
    assert (made.replay.outcome, len(list(changed_lines(made)))) == ("identical", 2)
    assert "calls" not in changed_json(made)
