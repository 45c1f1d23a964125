"""The judgements left: fields of the subagent's answer, and the recorded values that answer for them."""

from collections.abc import Sequence

import pytest

from gofer.learning.promotion.judgements import NotDecided, decided, judged_fields
from gofer.learning.promotion.observed_run import ObservedRun
from gofer.learning.promotion.promotion import promote
from gofer.tools.definition import AnyTool, Arguments, Call, Tool, ToolResult
from support.learning.observed_runs import made, observed


class Words(Arguments):
    text: str = ""
    tags: tuple[str, ...] = ()


async def act(call: Call, arguments: Words) -> ToolResult:
    raise AssertionError


TOOLS: dict[str, AnyTool] = {"tell": Tool("tell", "tells", "keyed", Words, act)}


def told(moods: Sequence[str]) -> Sequence[ObservedRun]:
    """Return runs that tell twice: first in words of the model, then in one of a few."""
    return [
        observed(number, {"id": number}, made("tell", text=f"words {number * 7}"), made("tell", text=mood))
        for number, mood in enumerate(moods)
    ]


def test_fields_are_named_after_the_arguments() -> None:
    fields = judged_fields(promote("w", told(["good", "bad"] * 5)), with_answer=True)
    assert [field.name for field in fields] == ["tell_text", "tell_2_text"]
    assert fields[0].schema == {"type": "string", "description": "The argument text of the first call of tell."}
    assert fields[1].schema["enum"] == ["bad", "good"]


def test_answer_in_own_words_is_a_field() -> None:
    runs = [observed(number, {"id": number}, made("log"), answer=f"words {number * 7}") for number in range(9)]
    assert [field.name for field in judged_fields(promote("w", runs), with_answer=True)] == ["answer"]
    assert judged_fields(promote("w", runs), with_answer=False) == []


def test_values_of_several_kinds_are_all_allowed() -> None:
    runs = [
        observed(number, {"id": number}, made("tell", text="x", tags=[f"tag {number * 7}"] * (number % 3)))
        for number in range(8)
    ]
    runs.append(observed(8, {"id": 8}, made("tell", text="x")))
    (field,) = judged_fields(promote("w", runs), with_answer=True)
    assert field.schema["type"] == ["array", "null"]


def test_values_for_each_call_of_a_loop_are_a_list() -> None:
    runs: list[ObservedRun] = []
    for number in range(9):
        people = [f"Owner {number}-{index}" for index in range(1 + number % 3)]
        calls = [made("tell", text=f"{number * 7} words {len(person)}", tags=person) for person in people]
        runs.append(observed(number, {"people": people}, *calls))
    (field,) = judged_fields(promote("w", runs), with_answer=False)
    assert (field.name, field.schema["type"], field.each) == ("tell_each_text", "array", True)
    assert decided(runs[2], [field.name], TOOLS) == {field.name: [call.arguments["text"] for call in runs[2].calls]}


def test_recorded_values_answer_for_fields() -> None:
    run = told(["good"])[0]
    fields = ["tell_text", "tell_2_text", "tell_tags", "answer"]
    assert decided(run, fields, TOOLS) == {
        "tell_text": "words 0",
        "tell_2_text": "good",
        "tell_tags": None,
        "answer": "Done.",
    }


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("tell_3_text", "the recorded run has no third call of tell"),
        ("mood", "names no argument"),
        ("tell_mood", "names no argument"),
    ],
)
def test_field_without_a_recorded_value_is_not_decided(field: str, reason: str) -> None:
    with pytest.raises(NotDecided, match=reason):
        decided(told(["good"])[0], [field], TOOLS)
