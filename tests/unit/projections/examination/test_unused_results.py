"""Results that a run never used, decided by their words."""

from collections.abc import Sequence

import pytest

from gofer.journal.entries import Entry, LlmResponse, MessageReceived, Recorded, RunConcluded, ToolCall, ToolResult
from gofer.projections import calls
from gofer.projections.examination.unused_results import unused_results
from gofer.values.messages import ToolAsk, Usage


def unused(result: str, *later: str, effect: str = "read", tool: str = "look") -> frozenset[str]:
    """Return the unused calls of a run with one result and these later texts, the last of which is its answer."""
    entries: Sequence[Entry] = [
        MessageReceived("Where is the key?"),
        LlmResponse("", (ToolAsk("a", tool, "{}"),), "tool_calls", "m", Usage(), 0.0, 1),
        ToolCall("1.0", tool, effect),  # type: ignore[arg-type]
        ToolResult("1.0", "ok", result),
        *(LlmResponse(text, (), "stop", "m", Usage(), 0.0, 1) for text in later),
        RunConcluded("done", "", later[-1]),
    ]
    journal = [Recorded(n, 0, n, "me", entry) for n, entry in enumerate(entries, 1)]
    return unused_results(journal, calls.project(journal).calls)


def test_result_of_which_no_word_occurs_later_is_unused() -> None:
    assert unused("Clouds over Lisbon", "In a drawer.") == {"1.0"}


@pytest.mark.parametrize("answer", ["LISBON!", "see lisbon-2", "The clouds."])
def test_one_word_in_the_answer_is_enough_to_count_as_used(answer: str) -> None:
    assert unused("Clouds over Lisbon", answer) == frozenset()


def test_word_in_an_earlier_text_of_the_model_counts_as_used() -> None:
    assert unused("Clouds over Lisbon", "So Lisbon it is.", "In a drawer.") == frozenset()


def test_result_without_new_words_is_never_unused() -> None:
    assert unused("where is the key", "In a drawer.") == frozenset()
    assert unused("", "In a drawer.") == frozenset()


def test_number_that_may_be_computed_counts_as_a_use_of_numbers() -> None:
    assert unused("Lisbon 12, Porto 30", "That makes 42.") == frozenset()
    assert unused("Lisbon, Porto", "That makes 42.") == {"1.0"}


def test_outcome_of_a_write_and_of_a_plan_call_are_never_unused() -> None:
    assert unused("Filed as OPS-12", "In a drawer.", effect="keyed") == frozenset()
    assert unused("Clouds over Lisbon", "In a drawer.", tool="todo_read") == frozenset()
