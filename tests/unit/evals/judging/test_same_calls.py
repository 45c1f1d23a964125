"""Calls of two runs matched with one another within a tolerance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.evals.eval_file import Tolerance
from gofer.evals.judging.same_calls import Placed, matched, same_arguments
from gofer.evals.judging.turn_facts import CallFacts

READS = st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=6, unique=True)


def read(turn: int, channel: str, status: str = "ok") -> Placed:
    return Placed(turn, CallFacts("look", {"channel": channel}, status))


def write(turn: int, text: str = "x") -> Placed:
    return Placed(turn, CallFacts("post", {"text": text}, effect="blind"))


def faults(recorded: list[Placed], played: list[Placed], tolerance: Tolerance | None = None) -> list[str]:
    return [match.reason for match in matched(recorded, played, tolerance or Tolerance()) if match.sameness != "same"]


@pytest.mark.parametrize(
    ("recorded", "played", "tolerance", "sameness"),
    [
        ({"a": 1, "b": None}, {"a": 1.0}, Tolerance(), "same"),
        ({"a": 1}, {"a": True}, Tolerance(), "different"),
        ({"a": 1}, {"a": 2}, Tolerance(numbers="free"), "same"),
        ({"a": 1}, {}, Tolerance(), "different"),
        ({"key": "OPS-1"}, {"key": "OPS-2"}, Tolerance(), "different"),
        ({"wait": "1,5 s"}, {"wait": "1500 ms"}, Tolerance(numbers="rounded"), "same"),
        ({"wait": "1,5 s"}, {"wait": "15 s"}, Tolerance(numbers="rounded"), "different"),
        ({"text": "The pool was full."}, {"text": "A full pool caused it."}, Tolerance(), "unclear"),
        ({"text": "The pool was full."}, {"text": "A full pool caused it."}, Tolerance(wording="exact"), "different"),
        ({"in": {"list": ["a", 1]}}, {"in": {"list": ["a", 1]}}, Tolerance(), "same"),
        ({"in": {"list": ["a", 1]}}, {"in": {"list": [1, "a"]}}, Tolerance(), "different"),
        ({"in": ["a"]}, {"in": ["a", "b"]}, Tolerance(), "different"),
        ({"in": ["a"]}, {"in": {"a": 1}}, Tolerance(), "different"),
    ],
)
def test_arguments_are_compared_by_names_values_and_free_texts(
    recorded: dict[str, object], played: dict[str, object], tolerance: Tolerance, sameness: str
) -> None:
    assert same_arguments(recorded, played, tolerance) == sameness


@given(READS, st.randoms())
def test_independent_reads_may_come_in_any_order(channels: list[str], random: object) -> None:
    shuffled = list(channels)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    recorded = [read(turn, channel) for turn, channel in enumerate(channels, 1)]
    played = [read(turn, channel) for turn, channel in enumerate(shuffled, 1)]
    assert faults(recorded, played) == []
    assert (faults(recorded, played, Tolerance(order="exact")) == []) == (shuffled == channels)


def test_parallel_calls_of_one_turn_may_come_in_any_order_even_writes() -> None:
    recorded = [write(1, "x"), write(1, "y")]
    assert faults(recorded, recorded[::-1], Tolerance(order="exact")) == []


def test_read_after_a_write_does_not_replace_a_read_before_the_write() -> None:
    assert faults([read(1, "a"), write(2)], [write(1), read(2, "a")]) == ["The call happened before look."]


def test_equal_calls_are_matched_before_calls_that_differ() -> None:
    recorded = [read(1, "a"), read(2, "b")]
    assert faults(recorded, [read(1, "b")]) == ["The call is missing."]
    (first, second) = matched(recorded, [read(1, "b")], Tolerance())
    assert (first.played, second.played) == (None, read(1, "b"))


def test_repeated_read_is_tolerated_and_a_repeated_write_is_not() -> None:
    assert faults([read(1, "a")], [read(1, "a"), read(2, "a")]) == []
    assert faults([read(1, "a"), read(2, "a")], [read(1, "a")]) == []
    assert faults([read(1, "a")], [read(1, "a"), read(2, "b")]) == ["The call was not recorded."]
    assert faults([write(1)], [write(1), write(2)]) == ["The call was not recorded."]
    exact = Tolerance(tool_only_turns="exact")
    assert faults([read(1, "a")], [read(1, "a"), read(2, "a")], exact) == ["The call was not recorded."]


def test_other_outcome_of_a_call_is_a_difference() -> None:
    refused = [read(1, "a", "refused")]
    assert faults([read(1, "a")], refused) == ["The call ended with refused and not with ok."]


def assign(issue: str, person: str) -> Placed:
    return Placed(1, CallFacts("assign", {"issue": issue, "person": person}, effect="keyed"))


def test_assignment_among_alike_instances_is_the_same_only_if_permitted() -> None:
    recorded = [assign("OPS-1", "ada"), assign("OPS-2", "bo")]
    played = [assign("OPS-1", "bo"), assign("OPS-2", "ada")]
    assert faults(recorded, played) == ["The arguments differ.", "The arguments differ."]
    assert faults(recorded, played, Tolerance(instances="alike")) == []
    twice = [assign("OPS-1", "bo"), assign("OPS-2", "bo")]
    assert faults(recorded, twice, Tolerance(instances="alike")) != []
