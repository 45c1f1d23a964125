"""Templates: a text that was built from constant words and values of the run is found again."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from gofer.learning.promotion.references import Reference, Values
from gofer.learning.promotion.templates import LONGEST, Part, render, template_of

NAMES = ("name", "team", "start")
words = st.text(st.sampled_from("abcXY 0-.{}\"'\n"), max_size=6)
values = st.text(st.sampled_from("abcdefgh 0123"), min_size=2, max_size=8)


def held(fields: Sequence[str]) -> Values:
    return {Reference("body", (name,)): value for name, value in zip(NAMES, fields, strict=True)}


@given(
    st.lists(st.one_of(words, st.sampled_from([Reference("body", (name,)) for name in NAMES])), min_size=1, max_size=7),
    st.lists(st.tuples(values, values, values), min_size=3, max_size=8, unique=True),
)
def test_template_over_fields_of_the_event_is_found_again(
    parts: Sequence[Part], runs: Sequence[tuple[str, str, str]]
) -> None:
    filled = [held(run) for run in runs]
    texts = [render(parts, run) for run in filled]
    assert None not in texts
    said = [text or "" for text in texts]
    found = template_of(said, filled)
    if len(set(said)) == 1:
        # The same text in each run is a constant.
        assert found is None
    else:
        assert found is not None
        assert [render(found, run) for run in filled] == said


def test_longest_value_is_preferred() -> None:
    filled = [held((f"Owner {number}", f"Owner {number} Smithy", "")) for number in range(5)]
    texts = [f"For Owner {number} Smithy." for number in range(5)]
    assert template_of(texts, filled) == ["For ", Reference("body", ("team",)), "."]


def test_numbers_are_written_as_text_and_booleans_are_no_parts() -> None:
    reference = Reference("body", ("count",))
    filled: list[Values] = [{reference: number} for number in (3, 14, 159)]
    assert template_of(["3 left", "14 left", "159 left"], filled) == [reference, " left"]
    assert render([reference], {reference: True}) is None


def test_template_of_most_runs_is_found_beside_an_exception() -> None:
    filled = [held((f"name{number}", f"team{number}", "")) for number in range(20)]
    texts = [f"name{number} joins team{number}" for number in range(20)]
    texts[0] = "a text of its own"
    found = template_of(texts, filled)
    assert found == [Reference("body", ("name",)), " joins ", Reference("body", ("team",))]


def test_free_text_and_long_text_have_no_template() -> None:
    filled = [held((f"name{number}", "t", "")) for number in range(4)]
    assert template_of(["one", "two things", "three", "four"], filled) is None
    assert template_of([f"{'x' * LONGEST}name{number}" for number in range(4)], filled) is None
