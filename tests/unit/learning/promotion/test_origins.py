"""Origins of arguments: constants, values of the run, templates, lists, and judgements."""

from collections.abc import Sequence

from gofer.learning.promotion.origins import (
    ABSENT,
    Constant,
    Judged,
    Listed,
    Taken,
    Template,
    find_origin,
    origin_words,
    value_of,
)
from gofer.learning.promotion.references import Reference, Values

NAME = Reference("body", ("name",))
NUMBER = Reference("place", ("number",))


def runs(count: int = 10) -> Sequence[Values]:
    return [{NAME: f"Name {number}", NUMBER: str(number + 5)} for number in range(count)]


def test_equal_values_are_a_constant() -> None:
    found = find_origin(["OPS"] * 10, runs())
    assert (found.origin, found.holds, found.of) == (Constant("OPS"), 10, 10)


def test_value_of_the_event_is_found_also_as_a_number() -> None:
    assert find_origin([f"Name {number}" for number in range(10)], runs()).origin == Taken(NAME)
    assert find_origin([number + 5 for number in range(10)], runs()).origin == Taken(NUMBER, as_number=True)


def test_text_around_a_value_is_a_template() -> None:
    found = find_origin([f"For Name {number}!" for number in range(10)], runs())
    assert found.origin == Template(("For ", NAME, "!"))
    assert origin_words(found.origin) == '"For {body.name}!"'


def test_list_of_equal_length_has_an_origin_for_each_item() -> None:
    found = find_origin([["new", f"Name {number}"] for number in range(10)], runs())
    assert found.origin == Listed((Constant("new"), Taken(NAME)))
    assert value_of(found.origin, runs()[3]) == ["new", "Name 3"]


def test_origin_of_most_runs_says_in_how_many() -> None:
    values = [f"Name {number}" for number in range(10)]
    values[4] = "another person"
    found = find_origin(values, runs())
    assert (found.origin, found.holds, found.of) == (Taken(NAME), 9, 10)


def test_values_without_a_common_origin_are_a_judgement() -> None:
    values = [f"mood {number * 7}" for number in range(10)]
    found = find_origin(values, runs())
    assert found.origin == Judged(tuple(values))
    assert value_of(found.origin, runs()[0]) is ABSENT
    assert origin_words(found.origin) == "judgement (10 different values)"


def test_argument_that_every_call_leaves_out_is_left_out() -> None:
    assert origin_words(find_origin([ABSENT] * 10, runs()).origin) == "left out"


def test_run_without_the_value_has_no_value() -> None:
    assert value_of(Taken(NUMBER, as_number=True), {NUMBER: "seven"}) is ABSENT
    assert value_of(Template(("For ", NAME)), {}) is ABSENT
